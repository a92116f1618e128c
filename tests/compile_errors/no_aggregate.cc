// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree is made of Array, Key, Buffer, numbers, enums, strings, std containers and
// aggregate structs of these (no constructors, private fields or references); for another type
// specialise spruce::TreeTraits
#include <spruce/spruce.h>

class Layer {
 public:
  explicit Layer(spruce::Array weight) : weight_(std::move(weight)) {}

 private:
  spruce::Array weight_;
};
struct Model {
  Layer first;
};

bool equal(const Model& a, const Model& b) { return spruce::tree::equal(a, b); }
