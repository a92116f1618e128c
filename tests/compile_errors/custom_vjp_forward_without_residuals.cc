// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the forward function of custom_vjp takes the function's arguments and returns
// std::pair{out, residuals}, out of the type that the function returns
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::custom_vjp([](const Array& v) { return v; }, [](const Array& v) { return v; },
                        [](const Array& r, const Array& ct) { return std::tuple{ct}; })(x);
}
