// SPDX-License-Identifier: Apache-2.0
// Arrays made from nothing but their type and a few numbers. None of them becomes a large constant
// of a compiled function: what is stored there is how to make it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "spruce/core/array.h"

namespace spruce {

/// Zeros of that shape. Throws ShapeError for a negative size.
inline constexpr struct ZerosFunction {
  Array operator()(const Shape& shape, Dtype dtype = float32, Loc loc = Loc::current()) const;
  /// Sizes without braces are refused.
  template <std::integral N, class... More>
  Array operator()(N, const More&...) const {
    return internal::refused_sizes<Array, N>();
  }
} zeros{};
/// Ones of that shape.
inline constexpr struct OnesFunction {
  Array operator()(const Shape& shape, Dtype dtype = float32, Loc loc = Loc::current()) const;
  /// Sizes without braces are refused.
  template <std::integral N, class... More>
  Array operator()(N, const More&...) const {
    return internal::refused_sizes<Array, N>();
  }
} ones{};
/// Every element is `value` (rank 0, or of a shape that broadcasts), of its dtype if that is
/// strong, else of the C++ number's (f32 for double), or of the one that is given. Grad: g summed.
inline constexpr struct FullFunction {
  Array operator()(const Shape& shape, const Array& value, Loc loc = Loc::current()) const;
  Array operator()(const Shape& shape, const Array& value, Dtype dtype,
                   Loc loc = Loc::current()) const;
  /// Sizes without braces are refused.
  template <std::integral N, class... More>
  Array operator()(N, const More&...) const {
    return internal::refused_sizes<Array, N>();
  }
} full{};
/// Zeros of the shape and dtype of x.
inline constexpr struct ZerosLikeFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} zeros_like{};
/// Ones of the shape and dtype of x.
inline constexpr struct OnesLikeFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} ones_like{};
/// `value` everywhere, of the shape and dtype of x.
inline constexpr struct FullLikeFunction {
  Array operator()(const Array& x, const Array& value, Loc loc = Loc::current()) const;
} full_like{};

namespace internal {
// The numbers are those of f64 or i64, converted to the dtype.
Array arange(Dtype dtype, double start, double stop, double step, Loc loc);
Array arange(Dtype dtype, int64_t start, int64_t stop, int64_t step, Loc loc);

template <class A, class B, class C>
Array arange_of(A start, B stop, C step, Dtype dtype, Loc loc) {
  if constexpr (std::is_floating_point_v<std::common_type_t<A, B, C>>)
    return arange(dtype, static_cast<double>(start), static_cast<double>(stop),
                  static_cast<double>(step), loc);
  else
    return arange(dtype, index_of("arange", start), index_of("arange", stop),
                  index_of("arange", step), loc);
}
}  // namespace internal

/// 0, 1, 2, ... below `stop`, of the dtype of the C++ number, f32 for double: arange(6) is i32[6],
/// arange(6.0) is f32[6]; or of the one that is given: arange(n, float64).
inline constexpr struct ArangeFunction {
  template <Scalar T>
  Array operator()(T stop, Loc loc = Loc::current()) const {
    return (*this)(stop, dtype_of_literal<T>(), loc);
  }
  template <Scalar T>
  Array operator()(T stop, Dtype dtype, Loc loc = Loc::current()) const {
    return internal::arange_of(T{}, stop, T{1}, dtype, loc);
  }
  /// start, start + step, ... up to but without `stop`, of the dtype of the C++ numbers together; a
  /// negative step runs downwards. Throws ValueError for a step of 0, and for negative numbers of
  /// an unsigned dtype, which -2 and 3u have together.
  template <Scalar A, Scalar B>
  Array operator()(A start, B stop, Loc loc = Loc::current()) const {
    return (*this)(start, stop, dtype_of_literal<std::common_type_t<A, B>>(), loc);
  }
  template <Scalar A, Scalar B>
  Array operator()(A start, B stop, Dtype dtype, Loc loc = Loc::current()) const {
    return internal::arange_of(start, stop, 1, dtype, loc);
  }
  template <Scalar A, Scalar B, Scalar C>
  Array operator()(A start, B stop, C step, Loc loc = Loc::current()) const {
    return (*this)(start, stop, step, dtype_of_literal<std::common_type_t<A, B, C>>(), loc);
  }
  template <Scalar A, Scalar B, Scalar C>
  Array operator()(A start, B stop, C step, Dtype dtype, Loc loc = Loc::current()) const {
    return internal::arange_of(start, stop, step, dtype, loc);
  }
} arange{};

/// Options of linspace and logspace.
struct LinspaceOptions {
  bool endpoint = true;  ///< the last number is `stop`; without it the step is (stop - start) / n
  std::optional<Dtype> dtype{};  ///< of the result; by default the floating one of both ends
};
/// n numbers from `start` to `stop` in equal steps, in the floating dtype of the two (f32 for C++
/// numbers and integers); they may be arrays, which broadcast: the result has a new axis in front.
/// Throws ValueError for n < 0.
inline constexpr struct LinspaceFunction {
  Array operator()(const Array& start, const Array& stop, int64_t n,
                   const LinspaceOptions& options = {}, Loc loc = Loc::current()) const;
} linspace{};
/// base to the power of linspace(start, stop, n).
inline constexpr struct LogspaceFunction {
  Array operator()(const Array& start, const Array& stop, int64_t n, double base = 10.0,
                   const LinspaceOptions& options = {}, Loc loc = Loc::current()) const;
} logspace{};

/// Options of eye and tri.
struct EyeOptions {
  int64_t columns = -1;   ///< number of columns; -1: as many as rows
  int64_t offset = 0;     ///< which diagonal: above the main one if positive, below if negative
  Dtype dtype = float32;  ///< of the result
};
/// f32[n, columns] with ones on a diagonal: eye(3), eye(2, 4), eye(3, float64) or
/// eye(3, {.offset = 1}). Throws ShapeError for sizes below 0.
inline constexpr struct EyeFunction {
  Array operator()(int64_t n, const EyeOptions& options = {}, Loc loc = Loc::current()) const;
  Array operator()(int64_t n, int64_t columns, const EyeOptions& options = {},
                   Loc loc = Loc::current()) const;
  Array operator()(int64_t n, Dtype dtype, Loc loc = Loc::current()) const;
} eye{};
/// eye(n).
inline constexpr struct IdentityFunction {
  Array operator()(int64_t n, Dtype dtype = float32, Loc loc = Loc::current()) const;
} identity{};
/// f32[n, columns] with ones on and below a diagonal: tri(3), tri(2, 4). Throws as eye does.
inline constexpr struct TriFunction {
  Array operator()(int64_t n, const EyeOptions& options = {}, Loc loc = Loc::current()) const;
  Array operator()(int64_t n, int64_t columns, const EyeOptions& options = {},
                   Loc loc = Loc::current()) const;
} tri{};
/// `x` with zeros above its `offset`-th diagonal, over the last two axes. Throws ShapeError for
/// rank below 2.
inline constexpr struct TrilFunction {
  Array operator()(const Array& x, int64_t offset = 0, Loc loc = Loc::current()) const;
} tril{};
/// `x` with zeros below its `offset`-th diagonal.
inline constexpr struct TriuFunction {
  Array operator()(const Array& x, int64_t offset = 0, Loc loc = Loc::current()) const;
} triu{};

/// The order of the first two axes of meshgrid's results: kXy has y's in front, as in pictures; kIj
/// keeps that of the inputs.
enum class Indexing {
  kXy,  ///< results of shape [y, x, ...] for inputs x, y, ...
  kIj   ///< results of shape [x, y, ...]
};
/// One array for each of the given ones (rank 0 or 1), all of one shape: the coordinates of a grid.
inline constexpr struct MeshgridFunction {
  std::vector<Array> operator()(std::span<const Array> axes, Indexing indexing = Indexing::kXy,
                                Loc loc = Loc::current()) const;
  std::vector<Array> operator()(std::initializer_list<Array> axes,
                                Indexing indexing = Indexing::kXy, Loc loc = Loc::current()) const;
} meshgrid{};

}  // namespace spruce
