// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the loss of compile_step is called as loss(module, args...) with what the step is
// called with, and does not take it; arguments come as const references
#include <spruce/spruce.h>

namespace nn = spruce::nn;
using spruce::Array;

auto train(nn::Stateful<nn::Linear>& net, const Array& x) {
  auto step = nn::compile_step(
      net, spruce::optim::adam(),
      [](const auto& n, const Array& x, const Array& y) { return spruce::sum(n(x) - y); });
  return step(x);
}
