// SPDX-License-Identifier: Apache-2.0
// expect: spruce: with has_aux a function returns a pair or tuple: what is differentiated, and what
// is handed out beside it
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::linearize([](const Array& v) { return v; }, sp::has_aux, x);
}
