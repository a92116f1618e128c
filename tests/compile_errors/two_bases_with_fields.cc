// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the fields of a struct in a tree stand all in itself or all in one base class
// that is an aggregate; make the base class a field, or specialise spruce::TreeTraits
#include <spruce/spruce.h>

struct Left {
  spruce::Array weight;
};
struct Right {
  spruce::Array bias;
};
struct Both : Left, Right {};

std::string text(const Both& x) { return spruce::tree::to_string(x); }
