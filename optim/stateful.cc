// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/stateful.h"

namespace spruce::optim::internal {

NamedArrays accumulated(const NamedArrays& grads, const NamedArrays& more) {
  if (grads.empty()) return more;
  return tree::map([](const Array& a, const Array& b) { return a + b; }, grads, more);
}

void throw_no_gradients() {
  throw ValueError(
      "step: there are no gradients; call backward(loss) first, or step(loss), which does both");
}

}  // namespace spruce::optim::internal
