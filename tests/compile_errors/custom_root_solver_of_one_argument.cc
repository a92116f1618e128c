// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a solver is called as solve(f, b) with a function and a tree, and returns the
// solution: [](const auto& f, const Array& b) { ... }
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  return sp::custom_root([](const Array& v) { return v * v; }, x, [](const Array& v) { return v; },
                         [](const auto& J, const Array& y) { return y; });
}
