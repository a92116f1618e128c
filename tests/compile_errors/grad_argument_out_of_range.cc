// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the numbers in <...>, without them 0, say which arguments the derivative is taken
// with respect to, counted from 0; there are not that many arguments
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::grad<1>([](const Array& v) { return sp::sum(v); })(x);
}
