// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/mixed.h"

#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <cmath>

namespace spruce::nn {
namespace mixed_test {

struct Net {
  Linear hidden, out;
  BatchNorm norm;
  Key key;
  Array steps = array(int32_t{0});
};

Net net() {
  const auto [k1, k2] = random::split<2>(Key(0));
  return {Linear::init(k1, 4, 16), Linear::init(k2, 16, 1), BatchNorm::init(16), Key(5)};
}

TEST(Mixed, CastsFloatingParametersOnly) {
  const Net low = Precision{}.to_compute(net());
  EXPECT_EQ(low.hidden.weight.dtype(), bfloat16);
  EXPECT_EQ(low.norm.weight->dtype(), bfloat16);
  EXPECT_EQ(low.norm.running_mean->value.dtype(), float32);
  EXPECT_EQ(low.steps.dtype(), int32);
  EXPECT_TRUE(array_equal(low.key.data(), net().key.data()));
  EXPECT_EQ((Precision{.parameters = float16}.to_parameters(low).out.weight.dtype()), float16);
  EXPECT_EQ(Precision{}.to_output(low).out.weight.dtype(), float32);
}

TEST(Mixed, ComputesLowAndGivesGradientsOfTheParametersDtype) {
  std::vector<Dtype> seen;
  const auto loss = [&](const Net& n, const Array& x) {
    const Array y = n.out(relu(n.hidden(x)));
    seen.push_back(y.dtype());
    return mean(square(y - 1.0f));
  };
  const Array x = random::normal(Key(1), {8, 4});
  const auto [value, grads] = value_and_grad(mixed(loss))(net(), x);
  EXPECT_EQ(seen.back(), bfloat16);
  EXPECT_EQ(value.dtype(), float32);
  EXPECT_EQ(grads.hidden.weight.dtype(), float32);
  const auto [exact, full] = value_and_grad(loss)(net(), x);
  EXPECT_TRUE(allclose(value, exact, {.rtol = 2e-2}));
  EXPECT_TRUE(allclose(grads.out.weight, full.out.weight, {.rtol = 5e-2, .atol = 1e-2}));
  EXPECT_FALSE(array_equal(grads.out.weight, full.out.weight));
  EXPECT_TRUE(allclose(jit(grad(mixed(loss)))(net(), x).out.weight, grads.out.weight,
                       {.rtol = 2e-2, .atol = 1e-3}));
}

TEST(Mixed, BuffersComeBackToFullPrecision) {
  const Net model = net();
  const Net low = Precision{}.to_compute(model);
  Context ctx{.training = true};
  const Array y = low.norm(low.hidden(Precision{}.to_compute(random::normal(Key(1), {8, 4}))), ctx);
  EXPECT_EQ(y.dtype(), bfloat16);
  const Net next = with_buffers(model, ctx.updated(low));
  EXPECT_TRUE(array_equal(next.hidden.weight, model.hidden.weight));
  EXPECT_FALSE(array_equal(next.norm.running_mean->value, model.norm.running_mean->value));
  EXPECT_EQ(next.norm.running_var->value.dtype(), float32);
}

TEST(Mixed, ALossScaleSavesGradientsThatVanishInHalf) {
  const Precision half{.compute = float16};
  const auto loss = [](const Array& w) { return sum(w * 1e-4f) * 1e-4f; };
  EXPECT_EQ(grad(mixed(loss, half))(ones({2})).to_vector<float>(), (std::vector<float>{0, 0}));
  const LossScale scale;
  const auto scaled = [&](const Array& w) { return scale.scale(loss(w)); };
  const Array g = scale.unscale(grad(mixed(scaled, half))(ones({2})));
  EXPECT_TRUE(allclose(g, full({2}, 1e-8f), {.rtol = 2e-2}));
}

TEST(Mixed, TheScaleGrowsAfterGoodStepsAndShrinksAfterBadOnes) {
  LossScale scale;
  scale.period = 2;
  scale.value = array(4.0f);
  const auto step = jit([](const LossScale& s, const Array& finite) { return s.adjusted(finite); });
  std::vector<float> values;
  for (const bool finite : {true, true, true, false, true, false, false, false}) {
    scale = step(scale, array(finite));
    values.push_back(scale.value.item<float>());
  }
  EXPECT_EQ(values, (std::vector<float>{4, 8, 8, 4, 4, 2, 1, 1}));
  EXPECT_EQ(scale.good_steps.item<int32_t>(), 0);
  scale.value = array(3e38f);
  EXPECT_EQ(scale.adjusted(array(true)).adjusted(array(true)).value.item<float>(), 3e38f);
  const LossScale fixed = LossScale::fixed(8);
  EXPECT_EQ(fixed.adjusted(array(false)).value.item<float>(), 8.0f);
  EXPECT_EQ(fixed.unscale(fixed.scale(array(3.0f))).item<float>(), 3.0f);
}

TEST(Mixed, FiniteAndSelected) {
  const std::vector<Array> good{ones({2}), arange(3)}, bad{array({1.0f, INFINITY}), arange(3)};
  EXPECT_TRUE(all_finite(good).item<bool>());
  EXPECT_FALSE(all_finite(bad).item<bool>());
  EXPECT_TRUE(all_finite(std::pair{arange(2), Key(0)}).item<bool>());
  EXPECT_TRUE(tree::equal(select_tree(array(true), good, bad), good));
  EXPECT_TRUE(tree::equal(select_tree(array(false), bad, good), good));
}

}  // namespace mixed_test
}  // namespace spruce::nn
