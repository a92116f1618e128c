// SPDX-License-Identifier: Apache-2.0
// A factor of the gradient alone.
#pragma once

#include "spruce/optim/map_trainable.h"

namespace spruce::optim {
namespace internal {

Array with_scaled_gradient(const Array& x, double scale);

}  // namespace internal

/// The tree as it is, whose derivative is `scale` times that of what it is used in, in forward and
/// in reverse mode: 0 stops the gradient, -1 turns it around (Ganin et al. 2016,
/// https://arxiv.org/abs/1505.07818). Throws ValueError for a scale that is not finite.
template <class T>
T scale_gradient(const T& inputs, double scale, Loc loc = Loc::current()) {
  const OpScope at("scale_gradient", loc);
  spruce::internal::check_range("scale_gradient", "scale", scale, spruce::internal::Range::kFinite);
  return map_trainable([&](const Array& x) { return internal::with_scaled_gradient(x, scale); },
                       inputs);
}

}  // namespace spruce::optim
