// SPDX-License-Identifier: Apache-2.0
// Parameters of the primitives that order elements, and short ways to apply them inside of rules.
#pragma once

#include <utility>

#include "spruce/core/primitive.h"

namespace spruce {

/// Order along an axis, with the parameters below.
extern const Primitive sort_p, top_k_p, searchsorted_p;

/// sort(x0, x1, ...): orders the operands together along `axis` by the first `num_keys` of them,
/// ascending, the first one first. Equal keys keep their order; -0 equals 0; NaN stands last.
struct SortParams {
  int64_t axis = 0;      ///< not negative
  int64_t num_keys = 1;  ///< 1 to the number of operands
};

/// top_k(x): the k largest elements along the last axis in falling order, and where they stand. NaN
/// is the largest.
struct TopKParams {
  int64_t k = 0;  ///< 0 to the size of the axis
};

/// searchsorted(sorted [batch..., n], queries [batch..., ...]): where each query belongs.
struct SearchSortedParams {
  bool right = false;  ///< behind equal elements instead of before them
};

namespace rules {

/// The dtype that counts along an axis of size n: i32, or i64 where that is too small.
inline Dtype count_dtype(int64_t n) { return n > INT32_MAX ? Dtype::kInt64 : Dtype::kInt32; }

/// x along its only axis in order, and the place that each came from.
std::pair<Array, Array> sort_with_order(const Array& x);

}  // namespace rules
}  // namespace spruce
