// SPDX-License-Identifier: Apache-2.0
// expect: holds no references
#include <spruce/transforms/transforms.h>

struct View {
  const spruce::Array& weight;
};

spruce::Array gradient(const View& x) {
  return spruce::grad([](const View& v) { return sum(v.weight); })(x).weight;
}
