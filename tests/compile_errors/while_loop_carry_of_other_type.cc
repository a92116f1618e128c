// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the carry that the body of a loop returns has another type than the one that the
// loop starts from
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::while_loop([](const Array& c) { return c < 3; },
                        [](const Array& c) {
                          return std::pair{c, c};
                        },
                        x);
}
