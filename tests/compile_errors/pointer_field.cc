// SPDX-License-Identifier: Apache-2.0
// expect: hold the value itself
#include <spruce/core/tree/tree.h>

struct Layer {
  spruce::Array weight;
};
struct Model {
  Layer* first = nullptr;
};

size_t leaves(const Model& x) { return spruce::tree::leaves(x).size(); }
