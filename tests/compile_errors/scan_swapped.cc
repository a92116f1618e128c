// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a function is expected here, such as a lambda, and this is a value; look at the
// order of the arguments
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& xs) {
  return sp::scan(
      Array(0.0f),
      [](const Array& c, const Array& x) {
        return std::pair{c + x, c};
      },
      xs);
}
