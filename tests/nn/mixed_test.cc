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

TEST(Mixed, BuffersOfFunctionalizeStayAtFullPrecision) {
  Stateful<BatchNorm> module(BatchNorm::init(4));
  const auto f = functionalize(module);
  const auto low =
      mixed([&](const NamedArrays& params, const NamedArrays& buffers, const Array& x) {
        EXPECT_EQ(params.at("weight").dtype(), bfloat16);
        return f.apply(params, buffers, {.training = true}, x);
      });
  // Statistics that bf16 cannot tell from 1.
  NamedArrays buffers = f.buffers;
  buffers.at("running_mean") = full({4}, 1.001f);
  const Array x = full({2, 4}, 1.0f);
  const auto [y, next] = low(f.params, buffers, x);
  EXPECT_EQ(y.dtype(), float32);
  EXPECT_TRUE(
      array_equal(next.at("running_mean"),
                  f.apply(f.params, buffers, {.training = true}, x).second.at("running_mean")));
  EXPECT_TRUE(allclose(jit(low)(f.params, buffers, x).second.at("running_mean"),
                       next.at("running_mean"), {.rtol = 1e-6}));
  struct State {
    NamedArrays params, buffers;
    const int version = 1;
  };
  const State cast = Precision{}.to_compute(State{f.params, buffers});
  EXPECT_EQ(cast.params.at("bias").dtype(), bfloat16);
  EXPECT_EQ(cast.buffers.at("running_mean").dtype(), float32);
}

TEST(Mixed, CompiledFunctionsTellBuffersFromParameters) {
  const NamedArrays params{{"a", ones({2})}};
  NamedArrays buffers = params;
  buffers.set_holds_buffers(true);
  const auto low = [](const NamedArrays& x) { return Precision{}.to_compute(x); };
  const auto one = jit(low), other = jit(low);
  EXPECT_EQ(one(params).at("a").dtype(), bfloat16);
  EXPECT_EQ(one(buffers).at("a").dtype(), float32);
  EXPECT_EQ(other(buffers).at("a").dtype(), float32);
  EXPECT_TRUE(other(buffers).holds_buffers());
  EXPECT_EQ(other(params).at("a").dtype(), bfloat16);
  const auto both = jit([&](const std::vector<NamedArrays>& x) { return low(x[0]).at("a"); });
  EXPECT_EQ(both(std::vector{params, buffers}).dtype(), bfloat16);
  EXPECT_EQ(both(std::vector{params, params}).dtype(), bfloat16);
  EXPECT_EQ(both.trace_count(), 2);
  // To all else they are trees of one form.
  EXPECT_EQ(tree::structure(params), tree::structure(buffers));
  EXPECT_TRUE(array_equal(
      tree::map([](const Array& a, const Array& b) { return a + b; }, params, buffers).at("a"),
      full({2}, 2.0f)));
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
