// SPDX-License-Identifier: Apache-2.0
// What a project that uses spruce would compile: exits 0 if a gradient comes out right.
#include <spruce/spruce.h>

#include <cstdio>

namespace sp = spruce;

int main() {
  const sp::Array x = sp::array({1.0f, -2.0f, 3.0f});
  const auto square = [](const sp::Array& x) { return sp::sum(x * x); };
  const bool ok = sp::allclose(sp::grad(square)(x), 2.0f * x);
  std::printf("%s\n", ok ? "the gradient is right" : "the gradient is wrong");
  return ok ? 0 : 1;
}
