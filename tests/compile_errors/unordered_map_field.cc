// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree is made of Array, Key, Buffer, numbers, enums, strings, std containers and
// aggregate structs of these (no constructors, private fields or references); for another type
// specialise spruce::TreeTraits
#include <spruce/spruce.h>

#include <unordered_map>

namespace sp = spruce;
namespace nn = spruce::nn;
using spruce::Array;

struct Net {
  std::unordered_map<std::string, Array> hidden;
  nn::Linear out;
};
auto f(const Net& n) { return sp::tree::leaves(n); }
