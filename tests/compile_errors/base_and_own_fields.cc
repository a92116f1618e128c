// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the fields of a struct in a tree stand all in itself or all in one base class
// that is an aggregate; make the base class a field, or specialise spruce::TreeTraits
#include <spruce/spruce.h>

struct Base {
  spruce::Array weight;
};
struct Derived : Base {
  spruce::Array bias;
};

size_t leaves(const Derived& x) { return spruce::tree::leaves(x).size(); }
