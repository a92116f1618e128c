// SPDX-License-Identifier: Apache-2.0
// expect: spruce: momo needs the loss: update(grads, state, params, loss)
#include <spruce/spruce.h>

namespace optim = spruce::optim;

auto f(const spruce::Array& w) {
  const auto optimizer = optim::momo();
  return optimizer.update(w, optimizer.init(w), w);
}
