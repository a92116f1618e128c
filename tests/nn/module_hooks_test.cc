// SPDX-License-Identifier: Apache-2.0
// Hooks before and behind forward; ensembles; the check for pureness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/message.h"
#include "tests/nn/nets.h"

namespace spruce::nn {
namespace module_hooks_test {

using ::testing::HasSubstr;

TEST(ModuleHooks, SeeAndReplaceInputsAndOutputs) {
  Net net(Key(0));
  net.eval();
  const Array x = random::normal(Key(1), {5, 4});
  const Array plain = net(x), doubled = net(2.0f * x);
  HookHandle pre = net.register_forward_pre_hook(
      [](const ModuleRef&, std::span<Array> in) { in[0] = 2.0f * in[0]; });
  EXPECT_TRUE(array_equal(net(x), doubled));
  Array seen;
  HookHandle post = net.block->register_forward_hook(
      [&](const ModuleRef& m, std::span<const Array> in, std::span<Array> out) {
        EXPECT_EQ(m.name(), "Block");
        EXPECT_TRUE(array_equal(in[0], 2.0f * x));
        seen = out[0];
        out[0] = zeros_like(out[0]);
      });
  EXPECT_TRUE(array_equal(net(x), full({5, 2}, 2.0f) * *net.out.layer().bias));
  EXPECT_EQ(seen.shape(), (Shape{5, 8}));
  post.remove();
  post.remove();
  EXPECT_TRUE(array_equal(net(x), doubled));
  pre.remove();
  EXPECT_TRUE(array_equal(net(x), plain));
  EXPECT_THROW(net.register_forward_hook({}), ValueError);
}

TEST(ModuleHooks, KeepTheTypesOfGradients) {
  Net net(Key(0));
  net.eval();
  const Array x = ones({5, 4});
  const auto gradient = [&] { return grad([&](const Array& a) { return sum(net(a)); })(x); };
  const auto with = [&](const std::function<Array(const Array&)>& change) {
    HookHandle h = net.register_full_backward_hook(
        [change](const ModuleRef&, std::span<Array> in, std::span<const Array>) {
          in[0] = change(in[0]);
        });
    const std::string text = message([&] { gradient(); });
    h.remove();
    return text;
  };
  EXPECT_EQ(with([](const Array& g) { return 2.0f * g; }), "nothing was thrown");
  EXPECT_THAT(with([](const Array&) { return ones({7}); }),
              HasSubstr("register_backward_hook: the hook put f32[7]"));
  EXPECT_THAT(with([](const Array& g) { return astype(g, float64); }), HasSubstr("f64[5,4]"));
  EXPECT_THAT(with([](const Array&) { return Array(); }), HasSubstr("an undefined array"));
  HookHandle before = net.out.register_full_backward_pre_hook(
      [](const ModuleRef&, std::span<Array> out) { out[0] = sum(out[0], 1); });
  EXPECT_THAT(message<ShapeError>(gradient), HasSubstr("register_full_backward_pre_hook"));
}

TEST(ModuleHooks, WorkInFunctionalizeAndUnderTransforms) {
  Net net(Key(0));
  const auto f = functionalize(net);
  const Array x = random::normal(Key(1), {5, 4});
  const auto loss = [&](const NamedArrays& p) { return sum(f.apply(p, f.buffers, {}, x).first); };
  const Array before = grad(loss)(f.params).at("out.weight");
  HookHandle h =
      net.out.register_forward_hook([](const ModuleRef&, std::span<const Array>,
                                       std::span<Array> out) { out[0] = 3.0f * out[0]; });
  EXPECT_TRUE(allclose(grad(loss)(f.params).at("out.weight"), 3.0f * before));
  EXPECT_TRUE(allclose(jit(grad(loss))(f.params).at("out.weight"), 3.0f * before, {.rtol = 1e-4}));
  h.remove();
  EXPECT_TRUE(array_equal(grad(loss)(f.params).at("out.weight"), before));
}

TEST(ModuleHooks, SeeAllArraysOfTuplesAndMayRemoveThemselves) {
  struct Two : ModuleOf<Two> {
    std::pair<Array, std::vector<Array>> forward(const Array& a, const std::vector<Array>& b,
                                                 int64_t n) {
      return {a * static_cast<float>(n), b};
    }
  } net;
  size_t inputs = 0, outputs = 0;
  HookHandle handle;
  handle = net.register_forward_hook(
      [&](const ModuleRef&, std::span<const Array> in, std::span<Array> out) {
        inputs = in.size();
        outputs = out.size();
        out[2] = full({1}, 7.0f);
        handle.remove();
      });
  const auto [a, b] = net(ones({1}), std::vector<Array>{ones({1}), ones({1})}, int64_t{4});
  EXPECT_EQ(inputs, 3u);
  EXPECT_EQ(outputs, 3u);
  EXPECT_EQ(a.item<float>(), 4);
  EXPECT_EQ(b[1].item<float>(), 7);
  EXPECT_EQ(
      net(ones({1}), std::vector<Array>{ones({1}), ones({1})}, int64_t{4}).second[1].item<float>(),
      1);
}

TEST(ModuleHooks, SeeAndReplaceGradients) {
  Net net(Key(0));
  const auto f = functionalize(net);
  const Array x = random::normal(Key(1), {5, 4});
  const auto loss = [&](const NamedArrays& p) { return sum(f.apply(p, f.buffers, {}, x).first); };
  const NamedArrays before = grad(loss)(f.params);
  int runs = 0;
  HookHandle h = net.out.register_backward_hook(
      [&](const ModuleRef& m, std::span<Array> in, std::span<const Array> out) {
        ++runs;
        EXPECT_EQ(m.name(), "Linear");
        ASSERT_EQ(in.size(), 1u);
        ASSERT_EQ(out.size(), 1u);
        EXPECT_EQ(in[0].shape(), (Shape{5, 8}));
        EXPECT_TRUE(allclose(out[0], full({5, 2}, 2.0f)));
        in[0] = 10.0f * in[0];
      });
  EXPECT_TRUE(array_equal(loss(f.params), loss(f.params)));
  EXPECT_EQ(runs, 0);
  const NamedArrays after = grad(loss)(f.params);
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(allclose(after.at("out.weight"), before.at("out.weight")));
  EXPECT_TRUE(
      allclose(after.at("block.fc.weight"), 10.0f * before.at("block.fc.weight"), {.rtol = 1e-4}));
  h.remove();
  EXPECT_TRUE(allclose(grad(loss)(f.params).at("block.fc.weight"), before.at("block.fc.weight")));
}

TEST(LazyLayers, AreMadeAtTheirFirstCall) {
  struct Lazy : Module {
    Lazy() { fc = register_module("fc", lazy(Key(3), dense(2))); }
    Array forward(const Array& x) override { return fc(x); }
    Stateful<Linear> fc;
  } net;
  EXPECT_TRUE(net.named_parameters().empty());
  EXPECT_THAT(net.to_string(), HasSubstr("(fc): LazyLinear()"));
  EXPECT_THROW(net.fc.layer(), ValueError);
  EXPECT_THROW(jit([&](const Array& x) { return net(x); })(ones({3, 5})), TracerError);
  const Linear expected = Linear::init(Key(3), 5, 2);
  EXPECT_TRUE(array_equal(net(ones({3, 5})), expected(ones({3, 5}))));
  EXPECT_EQ(net.get_parameter("fc.weight").shape(), (Shape{2, 5}));
  EXPECT_TRUE(tree::equal(net.fc.layer(), expected));
  EXPECT_THROW(net(ones({3, 4})), ShapeError);
}

TEST(StackModules, AreAnEnsembleUnderVmap) {
  const auto a = std::make_shared<Net>(Key(0)), b = std::make_shared<Net>(Key(1)),
             c = std::make_shared<Net>(Key(2));
  const auto f = stack_modules({a, b, c});
  EXPECT_EQ(f.params.at("out.weight").shape(), (Shape{3, 2, 8}));
  const Array x = random::normal(Key(1), {5, 4});
  const auto call = [&](const NamedArrays& p, const NamedArrays& buffers) {
    return f.apply(p, buffers, {.training = true, .key = Key(4)}, x);
  };
  const auto [all, next] = vmap(call)(f.params, f.buffers);
  EXPECT_EQ(all.shape(), (Shape{3, 5, 2}));
  for (Net* net : {a.get(), b.get(), c.get()}) net->seed(Key(4));
  EXPECT_TRUE(allclose(all[1], (*b)(x), {.rtol = 1e-4, .atol = 1e-5}));
  EXPECT_TRUE(allclose(next.at("block.norm.running_var")[1],
                       b->get_buffer("block.norm.running_var"), {.rtol = 1e-4}));
  restore(*a, unstack_module(f.params, 2), unstack_module(f.buffers, 2));
  EXPECT_TRUE(array_equal(a->get_parameter("out.weight"), c->get_parameter("out.weight")));
}

TEST(StackModules, RefusesWhatIsNotAlike) {
  const auto a = std::make_shared<Net>(Key(0)), b = std::make_shared<Net>(Key(1));
  EXPECT_THROW(stack_modules(std::vector<std::shared_ptr<Net>>{}), ValueError);
  b->eval();
  EXPECT_THROW(stack_modules({a, b}), ValueError);
  b->train();
  b->requires_grad("gain", false);
  EXPECT_THROW(stack_modules({a, b}), ValueError);
  b->requires_grad();
  b->set_layer("out", Linear::init(Key(0), 8, 3));
  EXPECT_THROW(stack_modules({a, b}), ShapeError);
  b->set_layer("out", Linear::init(Key(0), 8, 2, {.bias = false}));
  EXPECT_THROW(stack_modules({a, b}), Error);
}

TEST(ModuleHooks, BackwardPreHooksComeBeforeTheGradientsOfTheModule) {
  Net net(Key(0));
  const auto f = functionalize(net);
  const Array x = random::normal(Key(1), {5, 4});
  const auto loss = [&](const NamedArrays& p) { return sum(f.apply(p, f.buffers, {}, x).first); };
  const NamedArrays before = grad(loss)(f.params);
  std::vector<std::string> order;
  HookHandle after = net.out.register_full_backward_hook(
      [&](const ModuleRef&, std::span<Array>, std::span<const Array> out) {
        order.push_back("hook");
        EXPECT_TRUE(allclose(out[0], full({5, 2}, 6.0f)));
      });
  HookHandle pre =
      net.out.register_full_backward_pre_hook([&](const ModuleRef& m, std::span<Array> out) {
        order.push_back("pre hook of " + m.name());
        ASSERT_EQ(out.size(), 1u);
        EXPECT_TRUE(allclose(out[0], full({5, 2}, 2.0f)));
        out[0] = 3.0f * out[0];
      });
  const NamedArrays tripled = grad(loss)(f.params);
  EXPECT_THAT(order, ::testing::ElementsAre("pre hook of Linear", "hook"));
  EXPECT_TRUE(allclose(tripled.at("out.weight"), 3.0f * before.at("out.weight"), {.rtol = 1e-5}));
  EXPECT_TRUE(allclose(tripled.at("block.fc.weight"), 3.0f * before.at("block.fc.weight"),
                       {.rtol = 1e-4, .atol = 1e-5}));
  EXPECT_TRUE(allclose(tripled.at("gain"), before.at("gain")));  // it stands behind the module
  pre.remove();
  after.remove();
  EXPECT_TRUE(array_equal(grad(loss)(f.params).at("out.weight"), before.at("out.weight")));
  EXPECT_THROW(net.register_full_backward_pre_hook({}), ValueError);
}

// Keeps what it should not, in one of several ways.
struct Impure : Module {
  enum class What { kNothing, kField, kArray, kStatic };
  explicit Impure(What w) : what(w) { fc = register_module("fc", Linear::init(Key(0), 4, 4)); }
  Array forward(const Array& x) override {
    static int calls = 0;
    if (what == What::kField) ++count;
    if (what == What::kArray) last = fc(x);
    if (what == What::kStatic) return fc(x) + static_cast<float>(++calls);
    return fc(x);
  }
  What what;
  int count = 0;
  Array last;
  Stateful<Linear> fc;
};

TEST(CheckPure, FindsWhatIsNotRegistered) {
  const Array x = random::normal(Key(1), {5, 4});
  Net net(Key(0));
  check_pure(net, x);
  check_pure(net, Key(3), x);
  using What = Impure::What;
  Impure fine(What::kNothing);
  check_pure(fine, x);
  for (const What what : {What::kField, What::kArray, What::kStatic}) {
    Impure bad(what);
    try {
      check_pure(bad, x);
      FAIL() << "no error";
    } catch (const ValueError& e) {
      EXPECT_THAT(e.what(), HasSubstr("check_pure: the forward of Impure"));
    }
  }
  Stateful<BatchNorm> norm(BatchNorm::init(4));
  check_pure(norm, x);
}

}  // namespace module_hooks_test
}  // namespace spruce::nn
