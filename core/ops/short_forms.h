// SPDX-License-Identifier: Apache-2.0
// Short forms that NumPy and JAX have of other operations. Errors are those of what they stand for,
// under their own names; so are gradients.
#pragma once

#include <utility>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// The slices along one axis, without it: f[n, ...] -> n of f[...]. Throws ShapeError for rank 0.
inline constexpr struct UnstackFunction {
  std::vector<Array> operator()(const Array& x, Axis axis = 0, Loc loc = Loc::current()) const;
} unstack{};

/// x with rank 1 at least: a number becomes f[1].
inline constexpr struct Atleast1dFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} atleast_1d{};
/// x with rank 2 at least: a vector becomes a row.
inline constexpr struct Atleast2dFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} atleast_2d{};
/// x with rank 3 at least: f[n] becomes f[1, n, 1], f[m, n] becomes f[m, n, 1].
inline constexpr struct Atleast3dFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} atleast_3d{};

/// The columns in reverse order: flip along axis 1. Throws ShapeError for rank below 2.
inline constexpr struct FliplrFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} fliplr{};
/// The rows in reverse order: flip along axis 0. Throws ShapeError for rank 0.
inline constexpr struct FlipudFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} flipud{};

/// The arrays, vectors as columns, side by side along axis 1. Throws as concatenate does.
inline constexpr struct ColumnStackFunction {
  Array operator()(const std::vector<Array>& arrays, Loc loc = Loc::current()) const;
} column_stack{};
/// The arrays, as atleast_3d gives them, one behind the other along axis 2.
inline constexpr struct DstackFunction {
  Array operator()(const std::vector<Array>& arrays, Loc loc = Loc::current()) const;
} dstack{};
/// split along axis 0 into equal parts. Throws as split does.
inline constexpr struct VsplitFunction {
  std::vector<Array> operator()(const Array& x, int64_t parts, Loc loc = Loc::current()) const;
} vsplit{};
/// split along axis 1, for vectors along axis 0.
inline constexpr struct HsplitFunction {
  std::vector<Array> operator()(const Array& x, int64_t parts, Loc loc = Loc::current()) const;
} hsplit{};

/// Where a matrix [n, columns] has its `offset`-th diagonal and what is below it: rows and columns,
/// i32, row by row. -1: as many columns as rows. Throws ValueError for sizes below 0.
inline constexpr struct TrilIndicesFunction {
  std::pair<Array, Array> operator()(int64_t n, int64_t offset = 0, int64_t columns = -1,
                                     Loc loc = Loc::current()) const;
} tril_indices{};
/// The same of the diagonal and what is above it.
inline constexpr struct TriuIndicesFunction {
  std::pair<Array, Array> operator()(int64_t n, int64_t offset = 0, int64_t columns = -1,
                                     Loc loc = Loc::current()) const;
} triu_indices{};

/// x log y; 0 where x is 0, whatever y. Grad: of x, g log y; of y, g x / y (0 where x is 0).
inline constexpr struct XlogyFunction {
  Array operator()(Operand x, Operand y, Loc loc = Loc::current()) const;
} xlogy{};
/// x log(1 + y); 0 where x is 0, whatever y.
inline constexpr struct Xlog1pyFunction {
  Array operator()(Operand x, Operand y, Loc loc = Loc::current()) const;
} xlog1py{};
/// log(p / (1 - p)), what sigmoid takes back: infinite at 0 and 1, NaN outside.
inline constexpr struct LogitFunction {
  Array operator()(const Array& p, Loc loc = Loc::current()) const;
} logit{};

}  // namespace spruce
