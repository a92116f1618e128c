// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a struct in a tree holds no references and no const fields without a default;
// hold the value itself
#include <spruce/spruce.h>

struct View {
  const spruce::Array& weight;
};

spruce::Array gradient(const View& x) {
  return spruce::grad([](const View& v) { return spruce::sum(v.weight); })(x).weight;
}
