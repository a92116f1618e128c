// SPDX-License-Identifier: Apache-2.0
// expect: spruce: sophia needs the function of the loss: update(grads, state, params, objective)
#include <spruce/spruce.h>

namespace optim = spruce::optim;

auto f(const spruce::Array& w, const spruce::Array& loss) {
  const auto optimizer = optim::sophia();
  return optimizer.update(w, optimizer.init(w), w, loss);
}
