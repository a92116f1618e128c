// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree is made of Array, Key, Buffer, numbers, enums, strings, std containers and
// aggregate structs of these (no constructors, private fields or references); for another type
// specialise spruce::TreeTraits
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

class Model {
 public:
  explicit Model(Array w) : w_(w) {}

 private:
  Array w_;
};
auto f(const Array& x) {
  return sp::jit([](const Array& v) { return Model(v); })(x);
}
