// SPDX-License-Identifier: Apache-2.0
// expect: spruce: jvp takes tangents of the same types as the primals
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::jvp([](const Array& v) { return sp::sum(v); }, std::tuple{x}, std::tuple{x, x});
}
