// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the function takes more or fewer arguments than it is called with here
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::jvp(
      [](const Array& v, const Array& w) {
        return std::pair{v, w};
      },
      sp::has_aux, std::tuple{x}, std::tuple{x});
}
