// SPDX-License-Identifier: Apache-2.0
// expect: spruce: hvp(f, x, v) takes the function, its argument x, and a tangent v of the type of x
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::hvp([](const Array& v) { return sp::sum(v); }, x, std::vector{x});
}
