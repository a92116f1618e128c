// SPDX-License-Identifier: Apache-2.0
// A layer and its input, added up.
#pragma once

#include "spruce/nn/context.h"

namespace spruce::nn {

/// x + layer(x). The parameters are those of the layer, under `layer`: nn::Residual{block}.
template <class L>
struct Residual {
  static constexpr const char* kClassName = "Residual";  ///< what it is printed as

  L layer;  ///< f[...] -> the same shape

  /// Evaluation mode. Throws what the layer throws.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    Context evaluation;
    return (*this)(x, evaluation, loc);
  }
  /// In the mode of the context.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    const internal::ObjectScope inside(ctx, *this);
    return x + call_layer(layer, x, ctx, loc);
  }
};
template <class L>
Residual(L) -> Residual<L>;

}  // namespace spruce::nn
