// SPDX-License-Identifier: Apache-2.0
// expect: for another type specialise spruce::TreeTraits
#include <spruce/core/tree/tree.h>

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
