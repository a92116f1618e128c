// SPDX-License-Identifier: Apache-2.0
// Arrays made from nothing but their type and a few numbers. None of them becomes a large constant
// of a compiled function: what is stored there is how to make it.
#pragma once

#include <span>
#include <vector>

#include "spruce/core/array.h"

namespace spruce {

/// Zeros of that shape. Throws ShapeError for a negative size.
Array zeros(const Shape& shape, Dtype dtype = float32, Loc loc = Loc::current());
/// Ones of that shape.
Array ones(const Shape& shape, Dtype dtype = float32, Loc loc = Loc::current());
/// Every element is `value` (rank 0, or of a shape that broadcasts), of its dtype if that is
/// strong, else of the C++ scalar's. Grad: g summed.
Array full(const Shape& shape, const Array& value, Loc loc = Loc::current());
Array full(const Shape& shape, const Array& value, Dtype dtype, Loc loc = Loc::current());
/// Zeros of the shape and dtype of x.
Array zeros_like(const Array& x, Loc loc = Loc::current());
/// Ones of the shape and dtype of x.
Array ones_like(const Array& x, Loc loc = Loc::current());
/// `value` everywhere, of the shape and dtype of x.
Array full_like(const Array& x, const Array& value, Loc loc = Loc::current());

namespace internal {
Array arange(Dtype dtype, double start, double stop, double step, Loc loc);
Array arange(Dtype dtype, int64_t start, int64_t stop, int64_t step, Loc loc);

template <class T>
Array arange_of(T start, T stop, T step, Loc loc) {
  if constexpr (std::is_floating_point_v<T>)
    return arange(dtype_of<T>(), double{start}, double{stop}, double{step}, loc);
  else
    return arange(dtype_of<T>(), static_cast<int64_t>(start), static_cast<int64_t>(stop),
                  static_cast<int64_t>(step), loc);
}
}  // namespace internal

/// 0, 1, 2, ... below `stop`, of the dtype of the C++ scalar: arange(6) is i32[6], arange(6.0f) is
/// f32[6].
template <Scalar T>
Array arange(T stop, Loc loc = Loc::current()) {
  return internal::arange_of<T>(T{}, stop, T{1}, loc);
}
/// The same in another dtype: arange(n, float32).
Array arange(int64_t stop, Dtype dtype, Loc loc = Loc::current());
/// start, start + step, ... up to but without `stop`; a negative step runs downwards. Throws
/// ValueError for a step of 0.
template <Scalar A, Scalar B>
Array arange(A start, B stop, Loc loc = Loc::current()) {
  using T = std::common_type_t<A, B>;
  return internal::arange_of<T>(static_cast<T>(start), static_cast<T>(stop), T{1}, loc);
}
template <Scalar A, Scalar B, Scalar C>
Array arange(A start, B stop, C step, Loc loc = Loc::current()) {
  using T = std::common_type_t<A, B, C>;
  return internal::arange_of<T>(static_cast<T>(start), static_cast<T>(stop), static_cast<T>(step),
                                loc);
}

/// Options of linspace and logspace.
struct LinspaceOptions {
  bool endpoint = true;  ///< the last number is `stop`; without it the step is (stop - start) / n
};
/// n numbers from `start` to `stop` in equal steps, in the floating dtype of the two (f32 for
/// integers); they may be arrays, which broadcast: the result has a new axis in front. Throws
/// ValueError for n < 0.
Array linspace(const Array& start, const Array& stop, int64_t n,
               const LinspaceOptions& options = {}, Loc loc = Loc::current());
/// base to the power of linspace(start, stop, n).
Array logspace(const Array& start, const Array& stop, int64_t n, double base = 10.0,
               const LinspaceOptions& options = {}, Loc loc = Loc::current());

/// Options of eye and tri.
struct EyeOptions {
  int64_t columns = -1;   ///< number of columns; -1: as many as rows
  int64_t offset = 0;     ///< which diagonal: above the main one if positive, below if negative
  Dtype dtype = float32;  ///< of the result
};
/// f32[n, columns] with ones on a diagonal.
Array eye(int64_t n, const EyeOptions& options = {}, Loc loc = Loc::current());
/// eye(n).
Array identity(int64_t n, Dtype dtype = float32, Loc loc = Loc::current());
/// f32[n, columns] with ones on and below a diagonal.
Array tri(int64_t n, const EyeOptions& options = {}, Loc loc = Loc::current());
/// `x` with zeros above its `offset`-th diagonal, over the last two axes. Throws ShapeError for
/// rank below 2.
Array tril(const Array& x, int64_t offset = 0, Loc loc = Loc::current());
/// `x` with zeros below its `offset`-th diagonal.
Array triu(const Array& x, int64_t offset = 0, Loc loc = Loc::current());

/// The order of the first two axes of meshgrid's results: kXy has y's in front, as in pictures; kIj
/// keeps that of the inputs.
enum class Indexing {
  kXy,  ///< results of shape [y, x, ...] for inputs x, y, ...
  kIj   ///< results of shape [x, y, ...]
};
/// One array for each of the given ones (rank 0 or 1), all of one shape: the coordinates of a grid.
std::vector<Array> meshgrid(std::span<const Array> axes, Indexing indexing = Indexing::kXy,
                            Loc loc = Loc::current());
std::vector<Array> meshgrid(std::initializer_list<Array> axes, Indexing indexing = Indexing::kXy,
                            Loc loc = Loc::current());

}  // namespace spruce
