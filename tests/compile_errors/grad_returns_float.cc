// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a function to be differentiated returns an Array, or a pair or tuple whose first
// element is that Array
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::grad([](const Array& v) { return sp::sum(v).item<float>(); })(x);
}
