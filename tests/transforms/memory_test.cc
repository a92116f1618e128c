// SPDX-License-Identifier: Apache-2.0
// Training holds its memory constant: no step leaves anything behind.
#include "spruce/core/memory.h"

#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace memory_test {

struct Net {
  Array hidden, out;
};

Array loss(const Net& net, const Array& x, const Array& y) {
  return mean(square(matmul(tanh(matmul(x, net.hidden)), net.out) - y));
}

Net step(const Net& net, const Array& x, const Array& y) {
  const Net g = grad(loss)(net, x, y);
  return {net.hidden - 0.1f * g.hidden, net.out - 0.1f * g.out};
}

struct Levels {
  int64_t live, peak;
};

// Live and peak bytes after some steps, and after many more.
template <class Step>
void expect_constant(const Step& advance) {
  const Array x = reshape(linspace(-1.0f, 1.0f, 32), {16, 2}), y = sum(x, 1, {.keepdims = true});
  Net net{reshape(linspace(-0.5f, 0.5f, 16), {2, 8}), reshape(linspace(-0.5f, 0.5f, 8), {8, 1})};
  const float before = loss(net, x, y).item<float>();
  const auto run = [&](int steps) {
    memory::reset_peak();
    for (int i = 0; i < steps; ++i) net = advance(net, x, y);
    return Levels{memory::live_bytes(), memory::peak_bytes()};
  };
  (void)run(3);
  const Levels early = run(10), late = run(1000);
  EXPECT_EQ(late.live, early.live);
  EXPECT_EQ(late.peak, early.peak);
  EXPECT_LT(loss(net, x, y).item<float>(), 0.5f * before);
}

TEST(Memory, AThousandStepsAreConstant) { expect_constant(step); }

TEST(Memory, AThousandCompiledStepsAreConstant) {
  const auto compiled = jit(step);
  expect_constant(
      [&](Net& net, const Array& x, const Array& y) { return compiled(std::move(net), x, y); });
}

TEST(Memory, AStepThatThrowsLeavesNothing) {
  const Array x = zeros({16, 2}), y = zeros({16, 1});
  const Net wrong{zeros({2, 8}), zeros({7, 1})};
  const int64_t before = memory::live_bytes();
  for (int i = 0; i < 100; ++i) {
    EXPECT_THROW((void)grad(loss)(wrong, x, y), ShapeError);
    EXPECT_THROW((void)jit(grad(loss))(wrong, x, y), ShapeError);
  }
  EXPECT_EQ(memory::live_bytes(), before);
}

TEST(Memory, TransformsReleaseWhatTheyHeld) {
  const Array x = linspace(0.0f, 1.0f, 1000);
  const auto f = [](const Array& v) { return sum(sin(v) * v); };
  const int64_t before = memory::live_bytes();
  {
    const auto [value, pullback] = vjp(f, x);
    EXPECT_GT(memory::live_bytes(), before);
    const auto compiled = jit(grad(f));
    (void)compiled(x);
    (void)make_graph(grad(f))(x);
    (void)vmap(f)(stack({x, x}));
  }
  EXPECT_EQ(memory::live_bytes(), before);
}

}  // namespace memory_test
}  // namespace spruce
