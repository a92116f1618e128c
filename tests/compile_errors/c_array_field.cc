// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree holds no C arrays T[n]; write std::array<T, n>
#include <spruce/spruce.h>

struct Model {
  float rate = 0.1f;
  spruce::Array weights[3];
};

size_t leaves(const Model& x) { return spruce::tree::leaves(x).size(); }
