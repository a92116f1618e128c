// SPDX-License-Identifier: Apache-2.0
// Order: sorting, the largest elements, searching. NaN counts as larger than every number, -0 as
// equal to 0.
#pragma once

#include <utility>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// Options of sort and argsort.
struct SortOptions {
  bool descending = false;  ///< largest (and NaN) first; what is equal keeps its order
};

/// The elements in order along one axis (by default the last; none: of the flattened array).
/// Stable. Throws ShapeError for several axes. Grad: g back to where the elements came from.
inline constexpr struct SortFunction {
  Array operator()(const Array& x, const AxisArg& axis = -1, const SortOptions& options = {},
                   Loc loc = Loc::current()) const;
} sort{};
/// The indices that sort: take_along_axis(x, argsort(x), -1) is sort(x). i32, or i64 for axes that
/// need it. Gradient: none.
inline constexpr struct ArgsortFunction {
  Array operator()(const Array& x, const AxisArg& axis = -1, const SortOptions& options = {},
                   Loc loc = Loc::current()) const;
} argsort{};
/// The indices that sort by several keys of one shape, the last one being the most significant, as
/// in NumPy. Throws ValueError for no keys, ShapeError where their shapes differ.
inline constexpr struct LexsortFunction {
  Array operator()(const std::vector<Array>& keys, const AxisArg& axis = -1,
                   Loc loc = Loc::current()) const;
} lexsort{};
/// The k largest elements along one axis (none: of the flattened array) in falling order, and their
/// indices (i32, or i64 for axes that need it); of equal ones the earlier first. The order is that
/// of sort with `descending`: NaN come before all numbers, the earlier first. Throws ValueError
/// unless 0 <= k <= size, ShapeError for several axes. Grad: g back to where the elements came
/// from.
inline constexpr struct TopKFunction {
  std::pair<Array, Array> operator()(const Array& x, int64_t k, const AxisArg& axis = -1,
                                     Loc loc = Loc::current()) const;
} top_k{};

/// Options of searchsorted.
struct SearchSortedOptions {
  bool right = false;  ///< the place behind equal elements; else the place before them
};

/// For each value the place in `sorted` (rank 1, ascending) where it would keep the order. i32, or
/// i64 for long ones. Throws ShapeError unless `sorted` has rank 1. Gradient: none.
inline constexpr struct SearchsortedFunction {
  Array operator()(const Array& sorted, const Array& values,
                   const SearchSortedOptions& options = {}, Loc loc = Loc::current()) const;
} searchsorted{};

/// The different elements of x in ascending order. The value of x must be known, because the shape
/// depends on it: TracerError under vmap and jit.
inline constexpr struct UniqueFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} unique{};

}  // namespace spruce
