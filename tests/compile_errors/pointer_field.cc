// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree holds no pointers; hold the value itself, in std::optional if it may be
// missing
#include <spruce/spruce.h>

struct Layer {
  spruce::Array weight;
};
struct Model {
  Layer* first = nullptr;
};

size_t leaves(const Model& x) { return spruce::tree::leaves(x).size(); }
