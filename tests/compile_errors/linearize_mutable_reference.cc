// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the function takes an argument as `T&` or `T&&`; write `const T&`, as in `const
// Array& x`, and return what changes
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::linearize([](Array& v) { return v; }, x);
}
