// SPDX-License-Identifier: Apache-2.0
// expect: spruce: this takes a module, a class derived from nn::Module; a layer of values such as
// nn::Linear is a pure function already: call it, or hand it to jit, grad and optimizers as it is;
// nn::Stateful makes a module of it
#include <spruce/spruce.h>

namespace nn = spruce::nn;

auto f(nn::Linear layer) {
  auto [apply, params, buffers] = nn::functionalize(layer);
  return params;
}
