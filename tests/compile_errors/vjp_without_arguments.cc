// SPDX-License-Identifier: Apache-2.0
// expect: spruce: vjp and linearize take the arguments with the function: vjp(f, x) and
// linearize(f, x)
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f() {
  return sp::vjp([](const Array& v) { return v; });
}
