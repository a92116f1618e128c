// SPDX-License-Identifier: Apache-2.0
// Gradients of convolutions and of reductions over windows: where ties go, size 0, and that the
// fast kernels of f32 agree with the plain ones of f64. The property suite has every rule on small
// samples.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <cmath>
#include <vector>

namespace spruce {
namespace conv_gradient_test {

TEST(WindowGradient, GoesToTheFirstOfTheLargest) {
  const Array x = array({1.0f, 3.0f, 3.0f, 2.0f, 3.0f, 3.0f, 1.0f, 1.0f}, {2, 4});
  const auto pooled = [](const Array& v) {
    return sum(reduce_window_max(v, {.window = {2, 2}, .strides = {2, 2}}));
  };
  EXPECT_EQ(grad(pooled)(x).to_vector<float>(), (std::vector<float>{0, 1, 1, 0, 0, 0, 0, 0}));
  const auto least = [](const Array& v) { return sum(reduce_window_min(v, {.window = {1, 3}})); };
  EXPECT_EQ(grad(least)(x).to_vector<float>(), (std::vector<float>{1, 0, 0, 1, 0, 0, 2, 0}));
}

TEST(WindowGradient, IsZeroWhereThereAreNoWindows) {
  const auto pooled = [](const Array& v) { return sum(reduce_window_max(v, {.window = {5}})); };
  EXPECT_EQ(grad(pooled)(array({1.0f, 2.0f})).to_vector<float>(), (std::vector<float>{0, 0}));
  const auto added = [](const Array& v) { return sum(reduce_window_sum(v, {.window = {5}})); };
  EXPECT_EQ(grad(added)(array({1.0f, 2.0f})).to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(WindowGradient, OverlapsAddUp) {
  const Array x = array({1.0, 5.0, 2.0, 4.0}, float64);
  const auto pooled = [](const Array& v) {
    return sum(square(reduce_window_max(v, {.window = {2}})));
  };
  EXPECT_EQ(grad(pooled)(x).to_vector<double>(), (std::vector<double>{0, 20, 0, 8}));
  const Array h = hessian(pooled)(x);
  EXPECT_EQ(diag(h).to_vector<double>(), (std::vector<double>{0, 4, 0, 2}));
}

struct Layer {
  Shape x, w;
  ConvParams params;
};

std::vector<Layer> layers() {
  return {
      {{4, 16, 12, 12},
       {16, 16, 3, 3},
       {.strides = {1, 1}, .padding_low = {1, 1}, .padding_high = {1, 1}}},
      {{3, 8, 15, 13},
       {16, 8, 3, 3},
       {.strides = {2, 2}, .padding_low = {1, 0}, .padding_high = {1, 0}}},
      {{2, 16, 12, 12},
       {32, 8, 3, 3},
       {.padding_low = {2, 2},
        .padding_high = {2, 2},
        .rhs_dilation = {2, 2},
        .feature_group_count = 2}},
      {{2, 8, 6, 6},
       {8, 16, 3, 3},
       {.padding_low = {2, 2},
        .padding_high = {2, 2},
        .lhs_dilation = {2, 2},
        .rhs_swapped = true,
        .reversed = true}},
      {{8, 4, 40}, {16, 4, 5}, {.strides = {3}, .padding_low = {2}, .padding_high = {2}}},
      {{2, 16, 10, 10}, {16, 16, 1, 1}, {}},
  };
}

TEST(ConvGradient, InSingleIsThatInDouble) {
  for (const Layer& l : layers()) {
    const Array x = random::normal(Key(1), l.x, {.dtype = float64}),
                w = random::normal(Key(2), l.w, {.dtype = float64});
    const auto loss = [&](const Array& a, const Array& b) {
      return sum(sin(conv_general(a, b, l.params)));
    };
    const auto [gx, gw] = grad<0, 1>(loss)(x, w);
    const auto [fx, fw] = grad<0, 1>(loss)(astype(x, float32), astype(w, float32));
    EXPECT_TRUE(allclose(astype(fx, float64), gx, {.rtol = 1e-4, .atol = 1e-3})) << to_string(l.x);
    EXPECT_TRUE(allclose(astype(fw, float64), gw, {.rtol = 1e-4, .atol = 1e-3})) << to_string(l.x);
    // In double, along one direction, against differences.
    const Array u = random::normal(Key(3), l.x, {.dtype = float64}),
                v = random::normal(Key(4), l.w, {.dtype = float64});
    const double h = 1e-6, up = loss(x + h * u, w + h * v).item<double>(),
                 down = loss(x - h * u, w - h * v).item<double>();
    const double along = sum(gx * u).item<double>() + sum(gw * v).item<double>();
    EXPECT_NEAR((up - down) / (2 * h), along, 1e-4 * (1 + std::abs(along))) << to_string(l.x);
  }
}

TEST(ConvGradient, PerExampleIsEachExampleAlone) {
  for (const Layer& l : layers()) {
    const Array x = random::normal(Key(1), l.x), w = random::normal(Key(2), l.w);
    const auto loss = [&](const Array& b, const Array& a) {
      return sum(square(conv_general(expand_dims(a, 0), b, l.params)));
    };
    const Array all = vmap(grad(loss), {.in_axes = {none, 0}})(w, x);
    for (int64_t i = 0; i < l.x[0]; ++i) {
      EXPECT_TRUE(allclose(all[i], grad(loss)(w, x[i]), {.rtol = 1e-4, .atol = 1e-3}))
          << to_string(l.x) << " example " << i;
    }
  }
}

}  // namespace conv_gradient_test
}  // namespace spruce
