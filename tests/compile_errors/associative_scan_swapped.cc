// SPDX-License-Identifier: Apache-2.0
// expect: spruce: associative_scan(f, xs) takes the function first; f(a, b) takes two trees of the
// type of xs, as `const Array&`, and returns one
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::associative_scan(x, [](const Array& v, const Array& w) { return v + w; });
}
