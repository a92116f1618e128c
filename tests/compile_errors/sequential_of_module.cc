// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a part of sequential is a factory such as dense(8), or a layer or function; a
// Module has to be called by a lambda
#include <spruce/spruce.h>

struct Net : spruce::nn::Module {
  spruce::Array forward(const spruce::Array& x) override { return x; }
};

auto chain(Net& net) { return spruce::nn::sequential(spruce::nn::dense(8), net); }
