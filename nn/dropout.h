// SPDX-License-Identifier: Apache-2.0
// Dropout.
#pragma once

#include "spruce/nn/factory.h"

namespace spruce::nn {

/// Options of dropout.
struct DropoutOptions {
  float p = 0.5f;        ///< probability that an element becomes zero
  bool training = true;  ///< false: x as it is
  Key key = {};          ///< needed in training, unless p is 0
};

/// Sets elements to zero with probability p and scales the others by 1 / (1 - p) (Srivastava et al.
/// 2014). Throws ValueError for p outside of 0..1, or without a key in training.
inline constexpr struct DropoutFunction {
  Array operator()(const Array& x, const DropoutOptions& options = {},
                   Loc loc = Loc::current()) const;
} dropout{};

/// Dropout as a layer: draws a key from the context in training; x as it is otherwise. Throws
/// ValueError in both modes for p outside of 0..1.
struct Dropout {
  float p = 0.5f;  ///< probability that an element becomes zero

  /// Evaluation mode: x.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
  /// In training, with a key from the context.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const;
};

namespace internal {
/// What a layer with a dropout in it makes of x: x itself in evaluation and for p = 0; else with
/// the key that `next_key` gives.
template <class L>
Array dropped(const Array& x, float p, Context& ctx, const char* op, const L& layer) {
  return ctx.training && p != 0 ? dropout(x, {.p = p, .key = ctx.next_key(op, layer)}) : x;
}
}  // namespace internal

}  // namespace spruce::nn
