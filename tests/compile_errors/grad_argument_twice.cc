// SPDX-License-Identifier: Apache-2.0
// expect: spruce: an argument is named twice in <...>; name each once
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::grad<0, 0>([](const Array& v) { return sp::sum(v); })(x);
}
