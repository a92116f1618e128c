// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the carry that the body of scan returns has another type than the one that it
// starts from
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& xs) {
  return sp::scan(
      [](const Array& c, const Array& x) {
        return std::pair{std::pair{c, x}, c};
      },
      Array(0.0f), xs);
}
