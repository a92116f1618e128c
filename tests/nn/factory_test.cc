// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/factory.h"

#include <gtest/gtest.h>

#include "spruce/spruce.h"

namespace spruce::nn {
namespace factory_test {

TEST(Context, UpdatedTakesTheObjectThatWasCalled) {
  struct Net {
    BatchNorm norm;
    Linear out;
  };
  const Net net{BatchNorm::init(4), Linear::init(Key(0), 4, 2)};
  Context ctx{.training = true};
  net.norm(random::normal(Key(1), {8, 4}), ctx);
  const Net next = ctx.updated(net);
  EXPECT_EQ(next.norm.num_batches_tracked->value.item<int64_t>(), 1);
  EXPECT_EQ(net.norm.num_batches_tracked->value.item<int64_t>(), 0);
  EXPECT_TRUE(array_equal(next.out.weight, net.out.weight));
  const Net copy = net;
  EXPECT_THROW(ctx.updated(copy), TreeError);
}

TEST(Context, UpdatesUnderGradAndJit) {
  struct Net {
    BatchNorm norm;
  };
  const Net net{BatchNorm::init(4)};
  const Array x = random::normal(Key(1), {8, 4});
  const auto loss = [](const Net& net, const Array& x) {
    Context ctx{.training = true};
    const Array y = net.norm(x, ctx);
    return std::pair{sum(y * y * y), ctx.updated(net)};
  };
  const auto [result, grads] = value_and_grad(loss)(net, x);
  const auto [compiled, grads2] = jit(value_and_grad(loss))(net, x);
  const auto direct = loss(net, x).second;
  EXPECT_FALSE(result.second.norm.running_mean->value.is_tracer());
  EXPECT_TRUE(array_equal(*result.second.norm.running_mean, *direct.norm.running_mean));
  EXPECT_TRUE(allclose(*compiled.second.norm.running_var, *direct.norm.running_var));
}

TEST(Factory, SizesComeFromTheExample) {
  const auto net = sequential(conv(4, 3, {.padding = 1}), batch_norm_layer(), relu, MaxPool2d{2},
                              flatten, Dropout{0.5f}, dense(10), layer_norm_layer());
  const Array x = random::normal(Key(1), {2, 3, 8, 8});
  const auto p = net.init(Key(0), x);
  EXPECT_EQ(std::get<0>(p).weight.shape(), (Shape{4, 3, 3, 3}));
  EXPECT_EQ(std::get<1>(p).weight->shape(), (Shape{4}));
  EXPECT_EQ(std::get<6>(p).weight.shape(), (Shape{10, 64}));
  EXPECT_EQ(std::get<7>(p).weight->shape(), (Shape{10}));
  EXPECT_EQ(net(p)(x).shape(), (Shape{2, 10}));
  const Linear expected = Linear::init(random::split(Key(0), 8)[6], 64, 10);
  EXPECT_TRUE(array_equal(std::get<6>(p).weight, expected.weight));
}

TEST(Factory, ContextReachesEveryPart) {
  const auto net = sequential(dense(16), batch_norm_layer(), Dropout{0.5f});
  const Array x = random::normal(Key(1), {8, 4});
  const auto p = net.init(Key(0), x);
  Context ctx{.training = true, .key = Key(2)};
  const Array y = net(p)(x, ctx);
  EXPECT_EQ(ctx.keys_used, 1);
  const auto next = ctx.updated(p);
  EXPECT_EQ(std::get<1>(next).num_batches_tracked->value.item<int64_t>(), 1);
  EXPECT_TRUE(any(y == 0.0f).item<bool>());
  EXPECT_TRUE(array_equal(net(p)(x), net(p)(x)));  // without a context: evaluation
}

TEST(Factory, SequentialInsideSequential) {
  const auto block = sequential(dense(6), tanh);
  const auto net = sequential(block, sequential(dense(5), [](const Array& x) { return 2 * x; }));
  const Array x = random::normal(Key(1), {3, 4});
  const auto p = net.init(Key(0), x);
  const auto& first = std::get<0>(std::get<0>(p));
  const auto& second = std::get<0>(std::get<1>(p));
  EXPECT_TRUE(allclose(net(p)(x), 2 * second(tanh(first(x)))));
  const auto g = grad([&](const auto& p) { return sum(net(p)(x)); })(p);
  EXPECT_EQ(std::get<0>(std::get<1>(g)).weight.shape(), (Shape{5, 6}));
}

TEST(Factory, SequencesOfWordsAndSignals) {
  const auto words = sequential(embedding_layer(20, 6), dense(2));
  const Array index = array({{1, 2, 3}});
  EXPECT_EQ(words(words.init(Key(0), index))(index).shape(), (Shape{1, 3, 2}));
  const auto signal = sequential(conv1d_layer(4, 3), gelu);
  const Array x = ones({2, 5, 9});
  const auto p = signal.init(Key(0), x);
  EXPECT_EQ(signal(p)(x).shape(), (Shape{2, 4, 7}));
}

TEST(Factory, InitUnderVmapAndJitIsAnEnsemble) {
  const auto net = sequential(dense(8), relu, dense(1));
  const Array x = random::normal(Key(1), {4, 3});
  const Key keys = random::split(Key(0), 5);
  const auto make = [&](const Key& key) { return net.init(key, x); };
  const auto many = vmap(make)(keys);
  const auto call = [&](const auto& p) { return net(p)(x); };
  const Array all = jit(vmap(call))(many);
  EXPECT_TRUE(allclose(all[3], call(make(keys[3])), {.rtol = 1e-4, .atol = 1e-5}));
}

TEST(Factory, AModelIsAValue) {
  const auto factory = sequential(dense(3), relu);
  const Array x = random::normal(Key(1), {5, 4});
  const auto model = factory(factory.init(Key(0), x));  // of temporary parameters
  auto parameters = factory.init(Key(0), x);
  const auto same = sequential(dense(3), relu)(parameters);  // of a temporary factory
  const Array y = model(x);
  EXPECT_TRUE(array_equal(same(x), y));
  parameters = factory.init(Key(5), x);  // what was made before does not follow
  EXPECT_TRUE(array_equal(same(x), y));
  EXPECT_FALSE(array_equal(factory(parameters)(x), y));
  EXPECT_TRUE(tree::equal(model.parameters(), factory.init(Key(0), x)));
}

TEST(Factory, BuffersOfAModelAreThoseOfItsParameters) {
  const auto net = sequential(dense(3), batch_norm_layer());
  const Array x = random::normal(Key(1), {8, 4});
  const auto count = [](const auto& p) {
    return std::get<1>(p).num_batches_tracked->value.template item<int64_t>();
  };
  const auto model = net(net.init(Key(0), x));
  Context ctx{.training = true};
  model(x, ctx);
  model(x, ctx);
  const auto next = ctx.updated(model.parameters());
  EXPECT_EQ(count(next), 2);
  EXPECT_EQ(count(model.parameters()), 0);
  // Two models of the same parameters are two calls of one.
  auto p = net.init(Key(0), x);
  Context twice{.training = true};
  net(p)(x, twice);
  net(p)(x, twice);
  EXPECT_TRUE(tree::equal(twice.updated(p), next));
  const auto copy = p;
  EXPECT_THROW(twice.updated(copy), TreeError);
  p = next;  // no longer what was called
  EXPECT_THROW(twice.updated(p), TreeError);
}

TEST(Factory, ALayerThatIsMadeIsItsOwnInitialParameters) {
  const Linear made = Linear::init(Key(3), 8, 3);
  const auto net = sequential(dense(8), relu, made, Dropout{0.5f}, MaxPool1d{1});
  const Array x = random::normal(Key(1), {5, 4});
  const auto p = net.init(Key(0), x);
  EXPECT_EQ(tree::leaves(p).size(), 4u);
  EXPECT_TRUE(tree::equal(std::get<2>(p), made));
  static_assert(std::is_same_v<std::tuple_element_t<3, std::remove_const_t<decltype(p)>>,
                               NoParameters>);  // nothing to train in it
  EXPECT_TRUE(allclose(net(p)(x), made(relu(std::get<0>(p)(x)))));
  const auto g = grad([&](const auto& p) { return sum(net(p)(x)); })(p);
  EXPECT_TRUE(any(std::get<2>(g).weight != 0.0f).item<bool>());
  // So is a model.
  const auto outer = sequential(net(p), dense(2));
  const auto q = outer.init(Key(7), x);
  EXPECT_TRUE(tree::equal(std::get<0>(q), p));
  EXPECT_EQ(outer(q)(x).shape(), (Shape{5, 2}));
}

TEST(Factory, PartsMayHoldArraysAnywhere) {
  struct Nested {
    std::vector<Linear> layers;
    std::optional<int64_t> times;
    Array operator()(const Array& x) const {
      Array y = x;
      for (const Linear& l : layers) y = l(y);
      return y;
    }
  };
  const auto net = sequential(Nested{{Linear::init(Key(0), 4, 4), Linear::init(Key(1), 4, 2)}, {}});
  const Array x = ones({3, 4});
  EXPECT_EQ(tree::leaves(net.init(Key(0), x)).size(), 4u);
}

TEST(Factory, ShorterNamesAreTheSameFactories) {
  const Array x = ones({2, 3, 8, 8});
  EXPECT_TRUE(tree::equal(conv(4, 3).init(Key(0), x), conv2d_layer(4, 3).init(Key(0), x)));
}

}  // namespace factory_test
}  // namespace spruce::nn
