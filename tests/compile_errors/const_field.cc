// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a const field with arrays cannot be given others; leave out the const
#include <spruce/spruce.h>

struct Layer {
  const spruce::Array weight = spruce::Array();
};

spruce::Array gradient(const Layer& x) {
  return spruce::grad([](const Layer& v) { return spruce::sum(v.weight); })(x).weight;
}
