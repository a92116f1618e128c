// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree is made of Array, Key, Buffer, numbers, enums, strings, std containers and
// aggregate structs of these (no constructors, private fields or references); for another type
// specialise spruce::TreeTraits
#include <spruce/spruce.h>

struct Model {
  spruce::Array& weight;
};

spruce::Array loss(const Model& model) { return spruce::sum(model.weight); }
spruce::Array train(const Model& model) {
  spruce::jit([](const Model& m) { return loss(m); })(model);
  return spruce::value_and_grad(loss)(model).first;
}
