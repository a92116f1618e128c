// SPDX-License-Identifier: Apache-2.0
// expect: all in itself or all in one base class
#include <spruce/core/tree/tree.h>

struct Base {
  spruce::Array weight;
};
struct Derived : Base {
  spruce::Array bias;
};

size_t leaves(const Derived& x) { return spruce::tree::leaves(x).size(); }
