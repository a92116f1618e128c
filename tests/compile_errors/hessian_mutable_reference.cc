// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the function takes an argument as `T&` or `T&&`; write `const T&`, as in `const
// Array& x`, and return what changes
// lines: 45 by clang, which names each step from the outer function to the inner one
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::hessian([](Array& v) { return sp::sum(v); })(x);
}
