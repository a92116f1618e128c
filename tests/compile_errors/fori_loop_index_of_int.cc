// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the body of fori_loop(lower, upper, body, init) is called as body(i, carry),
// where i is an Array: write `const Array& i`
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::fori_loop(
      0, 10, [](int i, const Array& c) { return c + i; }, x);
}
