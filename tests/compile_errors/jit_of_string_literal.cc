// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a string literal is no tree; write std::string("...")
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::jit([](const Array& v, const std::string& s) { return v; })(x, "relu");
}
