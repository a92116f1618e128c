// SPDX-License-Identifier: Apache-2.0
// What a project that uses spruce would compile: exits 0 if a gradient and a batch come out
// right.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

namespace sp = spruce;

int main() {
  const sp::Array x = sp::array({1.0f, -2.0f, 3.0f});
  const auto square = [](const sp::Array& x) { return sp::sum(x * x); };
  bool ok = sp::allclose(sp::grad(square)(x), 2.0f * x);
  for (const auto& batch : sp::data::batches(x, {.batch_size = 3}))
    ok = ok && sp::array_equal(batch.examples, x);
  std::printf("%s\n", ok ? "the gradient is right" : "the gradient is wrong");
  return ok ? 0 : 1;
}
