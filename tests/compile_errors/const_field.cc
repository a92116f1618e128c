// SPDX-License-Identifier: Apache-2.0
// expect: leave out the const
#include <spruce/transforms/transforms.h>

struct Layer {
  const spruce::Array weight = spruce::Array();
};

spruce::Array gradient(const Layer& x) {
  return spruce::grad([](const Layer& v) { return sum(v.weight); })(x).weight;
}
