// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/functionalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/nn/nets.h"

namespace spruce::nn {
namespace functionalize_test {

const ApplyOptions kTraining{.training = true, .key = Key(9)};

TEST(Functionalize, IsTheModuleInBothModes) {
  Net net(Key(0));
  const Array x = random::normal(Key(1), {5, 4});
  const Functional f = functionalize(net);
  const auto [pure, buffers] = f.apply(f.params, f.buffers, kTraining, x);
  net.seed(Key(9));
  EXPECT_TRUE(array_equal(net(x), pure));
  EXPECT_TRUE(tree::equal(net.named_buffers(), buffers));
  net.eval();
  const auto [evaluated, same] = f.apply(f.params, buffers, {}, x);
  EXPECT_TRUE(array_equal(net(x), evaluated));
  EXPECT_TRUE(tree::equal(same, buffers));
}

TEST(Functionalize, LeavesTheModuleAloneUnderEveryTransform) {
  Net net(Key(0));
  const NamedArrays before = net.state_dict();
  const Functional f = functionalize(net);
  const Array x = random::normal(Key(1), {6, 5, 4});
  const auto loss = [&](const NamedArrays& p, const NamedArrays& b, const Array& x) {
    auto [y, next] = f.apply(p, b, kTraining, x);
    return std::pair{sum(y * y), next};
  };
  const auto [result, grads] = value_and_grad(loss)(f.params, f.buffers, x[0]);
  EXPECT_TRUE(grads.same_names(f.params));
  EXPECT_FALSE(result.second.at("block.norm.running_mean").is_tracer());
  const auto [compiled, grads2] = jit(value_and_grad(loss))(f.params, f.buffers, x[0]);
  EXPECT_TRUE(allclose(compiled.first, result.first));
  EXPECT_TRUE(allclose(grads2.at("gain"), grads.at("gain"), {.rtol = 1e-4}));
  const auto mapped = vmap(loss, {.in_axes = {none, none, 0}})(f.params, f.buffers, x);
  EXPECT_NEAR(mapped.first[0].item<float>(), result.first.item<float>(), 1e-3);
  EXPECT_EQ(mapped.second.at("calls").shape(), (Shape{6}));
  EXPECT_EQ(mapped.second.at("block.norm.running_var").shape(), (Shape{6, 8}));
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
  EXPECT_TRUE(tree::equal(f.buffers, net.named_buffers()));
}

struct WithLoss : ModuleOf<WithLoss> {
  explicit WithLoss(const Array& weight) {
    out = register_module("out", Linear::init(Key(0), 4, 3));
    loss = register_module("loss", CrossEntropyLoss{{.weight = weight}});
  }
  Array forward(const Array& x, const Array& target) { return loss(out(x), target); }
  Stateful<Linear> out;
  Stateful<CrossEntropyLoss> loss;
};

TEST(Functionalize, ALossWithoutClassWeightsHasNoArrays) {
  const Stateful<CrossEntropyLoss> loss(CrossEntropyLoss{{.label_smoothing = 0.1}});
  const Array x = random::normal(Key(1), {5, 3}), target = array({0, 2, 1, 1, 0});
  Stateful<CrossEntropyLoss> module = loss;
  const auto f = functionalize(module);
  EXPECT_TRUE(f.params.empty() && f.buffers.empty());
  const Array expected = cross_entropy(x, target, {.label_smoothing = 0.1});
  EXPECT_TRUE(array_equal(f.apply(f.params, f.buffers, {}, x, target).first, expected));
  EXPECT_TRUE(array_equal(module(x, target), expected));
  EXPECT_TRUE(array_equal(compile(module)(x, target), expected));
  EXPECT_TRUE(module.state_dict().empty());

  WithLoss net{Array()};
  EXPECT_THAT(names(net.named_parameters()), ::testing::ElementsAre("out.weight", "out.bias"));
  const auto g = functionalize(net);
  const Array inputs = random::normal(Key(2), {5, 4});
  EXPECT_TRUE(
      array_equal(g.apply(g.params, g.buffers, {}, inputs, target).first, net(inputs, target)));
}

TEST(Functionalize, ClassWeightsOfALossAreNotTrained) {
  const Array weight = array({0.5f, 2.0f, 1.0f}), target = array({0, 2, 1, 1, 0});
  WithLoss net{weight};
  EXPECT_THAT(names(net.named_parameters()), ::testing::ElementsAre("out.weight", "out.bias"));
  EXPECT_THAT(names(net.named_buffers()), ::testing::ElementsAre("loss.options.weight"));
  const auto f = functionalize(net);
  const Array x = random::normal(Key(2), {5, 4});
  const auto [value, same] = f.apply(f.params, f.buffers, {.training = true}, x, target);
  EXPECT_TRUE(array_equal(value, cross_entropy(net.out.layer()(x), target, {.weight = weight})));
  EXPECT_TRUE(tree::equal(same, f.buffers));
}

TEST(Functionalize, ModeIsThatOfTheCall) {
  Net net(Key(0));
  net.eval();
  const Functional f = functionalize(net);
  const Array x = random::normal(Key(1), {5, 4});
  EXPECT_EQ(f.apply(f.params, f.buffers, kTraining, x).second.at("calls").item<float>(), 1);
  net.train();
  EXPECT_EQ(f.apply(f.params, f.buffers, {}, x).second.at("calls").item<float>(), 0);
  EXPECT_THROW(f.apply(f.params, f.buffers, {.training = true}, x), ValueError);  // no key
}

TEST(Functionalize, NamesAndShapesAreChecked) {
  Net net(Key(0));
  const Functional f = functionalize(net);
  const Array x = ones({5, 4});
  NamedArrays more = f.params, less = f.params, other = f.params;
  more.insert("extra", ones({1}));
  less.erase("gain");
  other.at("out.bias") = ones({1});
  EXPECT_THROW(f.apply(more, f.buffers, {}, x), TreeError);
  EXPECT_THROW(f.apply(less, f.buffers, {}, x), TreeError);
  EXPECT_THROW(f.apply(other, f.buffers, {}, x), ShapeError);
  try {
    f.apply(net.state_dict(), f.buffers, {}, x);
    FAIL() << "no error";
  } catch (const TreeError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("parameter calls"));
  }
}

TEST(Functionalize, RestorePutsBothBackOrNeither) {
  Net net(Key(0)), other(Key(1));
  const Array x = random::normal(Key(1), {5, 4});
  const Functional f = functionalize(other);
  const auto next = f.apply(f.params, f.buffers, kTraining, x).second;
  restore(net, f.params, next);
  EXPECT_TRUE(tree::equal(net.named_parameters(), f.params));
  EXPECT_TRUE(tree::equal(net.named_buffers(), next));
  const NamedArrays before = net.state_dict();
  NamedArrays wrong = next;
  wrong.at("calls") = ones({2});
  EXPECT_THROW(restore(net, functionalize(other).params, wrong), ShapeError);
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
}

TEST(Functionalize, KeepsAModuleThatItIsHandedOver) {
  const Array x = random::normal(Key(1), {5, 4});
  const Functional f = functionalize(std::make_shared<Net>(Key(0)));
  Net net(Key(0));
  net.eval();
  EXPECT_TRUE(array_equal(f.apply(f.params, f.buffers, {}, x).first, net(x)));
  EXPECT_THROW(functionalize(std::shared_ptr<Net>()), ValueError);
}

TEST(FunctionalizeThreads, EightAtOnceGiveWhatOneGives) {
  Net net(Key(0));
  const NamedArrays before = net.state_dict();
  const Functional f = functionalize(net);
  const auto run = [&](int64_t i) {
    const Array x = random::normal(Key(i), {5, 4});
    const auto loss = [&](const NamedArrays& p) {
      auto [y, next] = f.apply(p, f.buffers, {.training = true, .key = Key(i)}, x);
      return std::pair{sum(y), next};
    };
    return value_and_grad(loss)(f.params);
  };
  std::vector<decltype(run(0))> alone;
  for (int64_t t = 0; t < 8; ++t) alone.push_back(run(t));
  std::vector<std::thread> threads;
  std::vector<int> failures(8);
  for (int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 10; ++i) {
        const auto k = static_cast<size_t>(t);
        failures[k] += tree::equal(run(t), alone[k]) ? 0 : 1;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failures, std::vector<int>(8));
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
}

}  // namespace functionalize_test
}  // namespace spruce::nn
