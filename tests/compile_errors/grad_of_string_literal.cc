// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a string literal is no tree; write std::string("...")
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f() {
  return sp::grad([](const Array& v) { return sp::sum(v); })("abc");
}
