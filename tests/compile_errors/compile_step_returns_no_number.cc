// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the loss of compile_step returns an Array, or a pair or tuple whose first element
// is that Array
#include <spruce/spruce.h>

namespace nn = spruce::nn;

auto train(nn::Stateful<nn::Linear>& net, const spruce::Array& x) {
  auto step = nn::compile_step(net, spruce::optim::adam(), [](const auto& n, const auto& x) {
    return std::vector<spruce::Array>{n(x)};
  });
  return step(x);
}
