// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the backward function of custom_vjp takes (residuals, cotangent of out) and
// returns a tuple with one cotangent for each argument: std::tuple{dx, dy}
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::custom_vjp([](const Array& v) { return v; },
                        [](const Array& v) {
                          return std::pair{v, v};
                        },
                        [](const Array& r, const Array& ct) { return ct; })(x);
}
