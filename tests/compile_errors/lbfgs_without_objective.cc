// SPDX-License-Identifier: Apache-2.0
// expect: spruce: lbfgs needs the objective: update(grads, state, params, objective)
#include <spruce/spruce.h>

namespace optim = spruce::optim;

auto f(const spruce::Array& w) {
  const auto optimizer = optim::lbfgs();
  return optimizer.update(w, optimizer.init(w), w);
}
