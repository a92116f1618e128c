// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the functions of switch_ stand in one std::tuple: switch_(index, std::tuple{f,
// g}, x)
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x, const Array& i) {
  return sp::switch_(
      i, [](const Array& v) { return v; }, [](const Array& v) { return -v; }, x);
}
