// SPDX-License-Identifier: Apache-2.0
// Functions that move elements without changing them. All keep the dtype (but astype) and take
// every dtype. The gradient of each puts the cotangent g back where the elements came from and adds
// what was repeated.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// The same elements in row-major order with another shape; one size may be -1. Shares the memory.
/// Throws ShapeError if the number of elements differs. Grad: g reshaped back.
inline constexpr struct ReshapeFunction {
  Array operator()(const Array& x, const Shape& shape, Loc loc = Loc::current()) const;
  /// Sizes without braces are refused.
  template <std::integral N, class... More>
  Array operator()(const Array&, N, const More&...) const {
    return internal::refused_sizes<Array, N>();
  }
} reshape{};
/// f32[2,3] -> f32[6]. Shares the memory.
inline constexpr struct RavelFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} ravel{};
/// The same as ravel.
inline constexpr struct FlattenFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} flatten{};
/// `x` repeated along new leading axes and along axes of size 1, as NumPy broadcasts. Throws
/// ShapeError. Grad: g summed over the repeated axes.
inline constexpr struct BroadcastToFunction {
  Array operator()(const Array& x, const Shape& shape, Loc loc = Loc::current()) const;
} broadcast_to{};
/// All arrays broadcast to their common shape. Throws ShapeError.
inline constexpr struct BroadcastArraysFunction {
  std::vector<Array> operator()(std::span<const Array> arrays, Loc loc = Loc::current()) const;
  std::vector<Array> operator()(std::initializer_list<Array> arrays,
                                Loc loc = Loc::current()) const;
} broadcast_arrays{};
/// The elements converted: floats to integers toward zero, saturating, NaN as 0; to bool as x != 0;
/// integers wrap. Grad: g converted back between floating dtypes, otherwise none.
inline constexpr struct AstypeFunction {
  Array operator()(const Array& x, Dtype dtype, Loc loc = Loc::current()) const;
} astype{};
/// The bits of each element read as another dtype of the same size. Throws DtypeError. No gradient.
inline constexpr struct BitcastFunction {
  Array operator()(const Array& x, Dtype dtype, Loc loc = Loc::current()) const;
} bitcast{};
/// The same elements in memory of their own.
inline constexpr struct CopyFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} copy{};

/// Axes of size 1 put in at `axis` (of the result; negative ones count from its end).
inline constexpr struct ExpandDimsFunction {
  Array operator()(const Array& x, const AxisArg& axis, Loc loc = Loc::current()) const;
} expand_dims{};
/// Axes of size 1 taken out: those named, or all. Throws ShapeError for one of another size.
inline constexpr struct SqueezeFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, Loc loc = Loc::current()) const;
} squeeze{};
/// Axes in a new order: axis i of the result is axis axes[i] of x; none reverses them. Throws
/// ShapeError unless each is named once.
inline constexpr struct TransposeFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, Loc loc = Loc::current()) const;
  /// transpose(x, 1, 0) is refused.
  template <std::integral A, std::integral... More>
  requires(sizeof...(More) > 0) Array operator()(const Array&, A, More...) const {
    static_assert(internal::kNever<A>,
                  "spruce: the axes stand in braces: transpose(x, {1, 0}); two are exchanged by "
                  "swapaxes(x, 0, 1)");
    return internal::refused<Array>();
  }
} transpose{};
/// Two axes exchanged.
inline constexpr struct SwapaxesFunction {
  Array operator()(const Array& x, Axis a, Axis b, Loc loc = Loc::current()) const;
} swapaxes{};
/// Axes `source` moved to the places `destination` of the result, the others in their order.
inline constexpr struct MoveaxisFunction {
  Array operator()(const Array& x, const AxisArg& source, const AxisArg& destination,
                   Loc loc = Loc::current()) const;
} moveaxis{};

}  // namespace spruce
