// SPDX-License-Identifier: Apache-2.0
// expect: spruce: optim::Stateful takes a module, a class derived from nn::Module; with a struct of
// values such as nn::Linear use the optimizer itself: init(params), then update(grads, state,
// params)
#include <spruce/spruce.h>

namespace sp = spruce;

auto f(sp::nn::Linear layer) {
  sp::optim::Stateful optimizer(layer, sp::optim::adam());
  optimizer.step();
}
