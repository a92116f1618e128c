// SPDX-License-Identifier: Apache-2.0
// The file that docs/adding_a_primitive.md gives is linked in here, and nothing else is changed for
// it.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include "spruce/core/cpu/fusion/stage.h"

namespace spruce {

extern const Primitive cubed_p;
inline constexpr UnaryFunction cubed{cubed_p};

namespace {

const Array kX = array({-1.5f, 0.0f, 0.5f, 2.0f});

TEST(AddingAPrimitive, Value) {
  EXPECT_TRUE(allclose(cubed(kX), array({-3.375f, 0.0f, 0.125f, 8.0f})));
  for (const Dtype dtype : {float16, bfloat16, float32, float64}) {
    const Array y = cubed(full({3}, 2.0, dtype));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_TRUE(array_equal(astype(y, float32), full({3}, 8.0f)));
  }
  EXPECT_TRUE(array_equal(cubed(arange(3)), array({0.0f, 1.0f, 8.0f}))) << "integers are converted";
}

TEST(AddingAPrimitive, DerivativesOfEveryOrder) {
  const auto total = [](const Array& x) { return sum(cubed(x)); };
  EXPECT_TRUE(allclose(grad(total)(kX), 3.0f * kX * kX));
  EXPECT_TRUE(allclose(hessian(total)(kX), diag(6.0f * kX)));
  EXPECT_TRUE(
      allclose(jvp(cubed, std::tuple{kX}, std::tuple{ones_like(kX)}).second, 3.0f * kX * kX));
  const Array x = astype(kX, float64), h = array(1e-5, float64);
  EXPECT_TRUE(allclose(grad(total)(x), (cubed(x + h) - cubed(x - h)) / (2.0 * h),
                       {.rtol = 1e-8, .atol = 1e-8}));
}

TEST(AddingAPrimitive, Vmap) {
  const Array rows = stack({kX, 2.0f * kX, -kX});
  EXPECT_TRUE(array_equal(vmap(cubed)(rows), cubed(rows)));
  EXPECT_TRUE(array_equal(vmap(cubed, {.in_axes = 1, .out_axes = 1})(rows), cubed(rows)));
  EXPECT_TRUE(allclose(vmap(vmap(grad(cubed)))(rows), 3.0f * rows * rows));
  EXPECT_EQ(vmap(cubed)(zeros({0, 4})).shape(), (Shape{0, 4}));
}

TEST(AddingAPrimitive, Jit) {
  const auto compiled = jit(cubed);
  EXPECT_TRUE(array_equal(compiled(kX), cubed(kX)));
  EXPECT_TRUE(array_equal(compiled(2.0f * kX), cubed(2.0f * kX)));
  EXPECT_EQ(compiled.trace_count(), 1);
  EXPECT_NE(make_graph(cubed)(kX).text().find("= cubed"), std::string::npos);
}

// Wherever there is machine code at all.
TEST(AddingAPrimitive, IsMachineCode) {
  cpu::Stage stage;
  stage.inputs = {{float32}};
  stage.outputs = {{0}};
  const bool has_code = cpu::make_stage_x64(stage) != nullptr;
  for (const Dtype dtype : {float16, bfloat16, float32, float64}) {
    stage.inputs = {{dtype}};
    stage.ops = {{&cubed_p, {}, {0}, dtype}};
    stage.outputs = {{1}};
    EXPECT_EQ(cpu::make_stage_x64(stage) != nullptr, has_code);
  }
}

TEST(AddingAPrimitive, Samples) {
  const std::vector<Sample> samples = cubed_p.samples();
  EXPECT_FALSE(samples.empty());
  for (const Sample& s : samples) EXPECT_EQ(s.in.size(), 1u);
}

}  // namespace
}  // namespace spruce
