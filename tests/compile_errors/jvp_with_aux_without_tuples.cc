// SPDX-License-Identifier: Apache-2.0
// expect: spruce: jvp takes the arguments and their tangents as two tuples: jvp(f, std::tuple{x,
// y}, std::tuple{dx, dy})
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::jvp([](const Array& v) { return std::pair{v, v}; }, sp::has_aux, x, x);
}
