// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a derivative is taken with respect to arrays; a C++ number or string is none:
// write Array(3.0f) for 3.0f
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f() {
  return sp::vjp([](const Array& v) { return v; }, 3.0f);
}
