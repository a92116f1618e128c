// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree holds no references, as std::tie makes them, and no const fields without a
// default; hold the value itself, as std::tuple{a, b} does
#include <spruce/spruce.h>

struct View {
  const spruce::Array& weight;
};

spruce::Array gradient(const View& x) {
  return spruce::grad([](const View& v) { return spruce::sum(v.weight); })(x).weight;
}
