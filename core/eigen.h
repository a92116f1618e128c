// SPDX-License-Identifier: Apache-2.0
// Arrays as matrices of Eigen and back. <spruce/spruce.h> does not include it, and Spruce does not
// need Eigen: who includes this header has it.
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "spruce/core/array_view.h"

namespace spruce::eigen {

/// A matrix in row-major order, as arrays are.
template <Element T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// A column of numbers.
template <Element T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// An Eigen::Map that shares the memory of an array: as long as one of its copies lives, the
/// elements stay as they are. What Eigen makes of it (blocks, transposes, expressions) does not
/// keep the memory.
template <class Plain>
class Map : public Eigen::Map<const Plain> {
 public:
  using Scalar = typename Plain::Scalar;  ///< of the elements
  /// Of the library: the elements, which the map keeps, as rows and columns.
  Map(HostSpan<Scalar> memory, int64_t rows, int64_t columns)
      : Eigen::Map<const Plain>(memory.data(), rows, columns), memory_(std::move(memory)) {}

 private:
  HostSpan<Scalar> memory_;
};

/// An array T[n, m] as a matrix of n rows and m columns, without a copy. Throws ShapeError for
/// another rank; DtypeError unless T is the C++ type of the dtype; TracerError under transforms.
template <Element T>
Map<Matrix<T>> matrix(const Array& x, Loc loc = Loc::current()) {
  const LocScope at(loc);
  if (x.rank() != 2)
    throw ShapeError("eigen::matrix: " + to_string(x.aval()) + " has " + std::to_string(x.rank()) +
                     " axes; a matrix has two");
  return {x.data<T>(loc), x.shape()[0], x.shape()[1]};
}

/// An array T[n] as a column of n numbers, without a copy. Throws as matrix().
template <Element T>
Map<Vector<T>> vector(const Array& x, Loc loc = Loc::current()) {
  const LocScope at(loc);
  if (x.rank() != 1)
    throw ShapeError("eigen::vector: " + to_string(x.aval()) + " has " + std::to_string(x.rank()) +
                     " axes; a vector has one");
  return {x.data<T>(loc), x.shape()[0], 1};
}

/// The elements of a matrix, a vector or an expression of Eigen, computed into an array:
/// T[rows, columns], or T[n] of what is a vector when it is compiled.
template <class Derived>
Array array(const Eigen::DenseBase<Derived>& x, Loc loc = Loc::current()) {
  using T = typename Derived::Scalar;
  const LocScope at(loc);
  Shape shape{x.rows(), x.cols()};
  if constexpr (Derived::IsVectorAtCompileTime) shape = {x.size()};
  const Array out = internal::make_array({dtype_of<T>(), false, shape});
  Eigen::Map<Matrix<T>>(static_cast<T*>(internal::mutable_data(out)), x.rows(), x.cols()) =
      x.derived();
  return out;
}

/// An array over the elements of a matrix in row-major order, or of a vector, without a copy. The
/// matrix must not change while the array lives; array_view() says more.
template <class T, int rows, int columns, int options, int max_rows, int max_columns>
Array array_view(
    std::shared_ptr<const Eigen::Matrix<T, rows, columns, options, max_rows, max_columns>> matrix,
    Loc loc = Loc::current()) {
  using M = Eigen::Matrix<T, rows, columns, options, max_rows, max_columns>;
  static_assert(M::IsVectorAtCompileTime || M::IsRowMajor,
                "spruce: arrays are in row-major order and this matrix is not; use "
                "spruce::eigen::Matrix<T>, or array(m), which copies");
  Shape shape{matrix->rows(), matrix->cols()};
  if constexpr (M::IsVectorAtCompileTime) shape = {matrix->size()};
  const T* data = matrix->data();
  return spruce::array_view(data, shape, std::move(matrix), loc);
}

}  // namespace spruce::eigen
