// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree holds no references, as std::tie makes them, and no const fields without a
// default; hold the value itself, as std::tuple{a, b} does
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto both(const Array& x) {
  return sp::jit([](const Array& v) {
    Array a = v + 1, b = v + 2;
    return std::tie(a, b);
  })(x);
}
