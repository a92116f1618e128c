// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the functions of cond or switch_ return values of different types
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x, const Array& i) {
  return sp::switch_(i,
                     std::tuple{[](const Array& v) { return v; },
                                [](const Array& v) {
                                  return std::pair{v, v};
                                }},
                     x);
}
