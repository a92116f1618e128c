// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/stateful.h"

namespace spruce::optim::internal {

NamedArrays accumulated(const NamedArrays& grads, const NamedArrays& more) {
  if (grads.empty()) return more;
  if (!grads.same_names(more)) {
    throw TreeError(
        "backward: the trainable parameters are other ones than those of the gradients that are "
        "there; call zero_grad() first, and make a new optimizer after requires_grad() or "
        "set_layer()");
  }
  return tree::map([](const Array& a, const Array& b) { return a + b; }, grads, more);
}

void throw_no_gradients() {
  throw ValueError(
      "step: there are no gradients; call backward(loss) first, or step(loss), which does both");
}

}  // namespace spruce::optim::internal
