// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the transform takes the function alone, and what it gives is called with the
// arguments: grad(f)(x), vmap(f)(x), jit(f)(x)
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::grad(x, [](const Array& v) { return sp::sum(v); });
}
