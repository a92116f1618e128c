// SPDX-License-Identifier: Apache-2.0
// Forwards with any arguments and results, and layers with any as modules.
#include <gtest/gtest.h>

#include "tests/nn/nets.h"

namespace spruce::nn {
namespace module_forward_test {

struct Mask {
  Array keep;
  bool on = true;
};

// Two arrays, a state and an option in; a pair out.
struct Decoder : ModuleOf<Decoder> {
  explicit Decoder(const Key& key) {
    const auto [k1, k2, k3] = random::split<3>(key);
    attn = register_module("attn", MultiheadAttention::init(k1, 4, 2));
    rnn = register_module("rnn", LSTM::init(k2, 4, 4));
    drop = register_module("drop", Dropout{0.5f});
    norm = register_module("norm", BatchNorm::init(4));
    out = register_module("out", Linear::init(k3, 4, 3));
  }
  std::pair<Array, LSTMState> forward(const Array& x, const Array& memory, const LSTMState& state,
                                      const Mask& mask = {}) {
    Array y = attn(x, memory, memory, MultiheadMasks{.is_causal = false});
    if (mask.on && mask.keep.defined()) y = y * mask.keep;
    auto [output, next] = rnn(drop(y), state);
    const Shape shape = output.shape();
    return {out(norm(output.reshape({-1, 4})).reshape(shape)), next};
  }
  Stateful<MultiheadAttention> attn;
  Stateful<LSTM> rnn;
  Stateful<Dropout> drop;
  Stateful<BatchNorm> norm;
  Stateful<Linear> out;
};

struct Inputs {
  Array x = random::normal(Key(1), {5, 3, 4});
  Array memory = random::normal(Key(2), {6, 3, 4});
  LSTMState state{zeros({1, 3, 4}), ones({1, 3, 4})};
  Mask mask{full({4}, 0.5f)};
};

TEST(ModuleForward, TakesAndReturnsAnything) {
  Decoder net(Key(0));
  net.eval();
  const Inputs in;
  const auto [y, state] = net(in.x, in.memory, in.state, in.mask);
  EXPECT_EQ(y.shape(), (Shape{5, 3, 3}));
  EXPECT_EQ(state.h.shape(), (Shape{1, 3, 4}));
  // The same by the layer structs.
  Array h = net.attn.layer()(in.x, in.memory, in.memory) * 0.5f;
  const LSTMResult r = net.rnn.layer()(h, in.state);
  h = net.norm.layer()(r.output.reshape({-1, 4})).reshape({5, 3, 4});
  EXPECT_TRUE(allclose(y, net.out.layer()(h)));
  EXPECT_TRUE(array_equal(state.c, r.state.c));
  const auto without = net(in.x, in.memory, in.state).first;  // the default of forward
  EXPECT_FALSE(allclose(y, without));
}

TEST(ModuleForward, TheBridgeTakesThemToo) {
  Decoder net(Key(0));
  const Inputs in;
  const auto f = functionalize(net);
  const auto [pure, buffers] =
      f.apply(f.params, f.buffers, {.training = true, .key = Key(9)}, in.x, in.memory, in.state);
  net.seed(Key(9));
  const auto stateful = net(in.x, in.memory, in.state);
  EXPECT_TRUE(array_equal(stateful.first, pure.first));
  EXPECT_TRUE(array_equal(stateful.second.c, pure.second.c));
  EXPECT_TRUE(tree::equal(net.named_buffers(), buffers));
  const auto loss = [&](const NamedArrays& p, const LSTMState& s, const Mask& m) {
    return sum(f.apply(p, f.buffers, {.training = true, .key = Key(9)}, in.x, in.memory, s, m)
                   .first.first);
  };
  const auto [dp, ds] = grad<0, 1>(loss)(f.params, in.state, in.mask);
  EXPECT_TRUE(dp.same_names(f.params));
  EXPECT_EQ(ds.c.shape(), (Shape{1, 3, 4}));
  EXPECT_TRUE(allclose(jit(loss)(f.params, in.state, in.mask), loss(f.params, in.state, in.mask),
                       {.rtol = 1e-4}));
}

struct Any : ModuleOf<Any> {
  Any() { scale = register_module("scale", Linear::init(Key(0), 2, 2)); }
  Array forward(const Array& x) { return scale(x); }
  std::tuple<Array, int> forward(const Array& x, int times) {
    Array y = x;
    for (int i = 0; i < times; ++i) y = scale(y);
    return {y, times};
  }
  template <class T>
  Array forward(const std::vector<T>& all) {
    return scale(stack(all));
  }
  Stateful<Linear> scale;
};

TEST(ModuleForward, MayBeOverloadedAndATemplate) {
  Any net;
  const Array x = ones({2});
  EXPECT_TRUE(array_equal(std::get<0>(net(x, 2)), net(net(x))));
  EXPECT_EQ(net(std::vector<Array>{x, x}).shape(), (Shape{2, 2}));
}

TEST(ModuleForward, ALayerIsAModuleByItself) {
  Stateful<BatchNorm> norm(BatchNorm::init(4));
  const Array x = random::normal(Key(1), {8, 4});
  norm(x);
  EXPECT_EQ(norm.named_buffers().at("num_batches_tracked").item<int64_t>(), 1);
  norm.eval();
  norm(x);
  EXPECT_EQ(norm.named_buffers().at("num_batches_tracked").item<int64_t>(), 1);
  const auto f = functionalize(norm);
  const auto [y, next] = f.apply(f.params, f.buffers, {.training = true}, x);
  EXPECT_EQ(next.at("num_batches_tracked").item<int64_t>(), 2);
  EXPECT_TRUE(allclose(y, BatchNorm::init(4)(x), {.rtol = 2, .atol = 10}));
  Stateful<Dropout> drop(Dropout{0.5f});
  EXPECT_THROW(drop(x), ValueError);  // no key
  drop.seed(Key(3));
  EXPECT_FALSE(array_equal(drop(x), drop(x)));
}

TEST(ModuleForward, ModulesOfBothKindsHoldEachOther) {
  struct Outer : Module {
    Outer() { inner = register_module("inner", std::make_shared<Decoder>(Key(0))); }
    Array forward(const Array& x) override {
      const auto [y, state] = (*inner)(x, x, LSTMState{zeros({1, 3, 4}), zeros({1, 3, 4})});
      return y + sum(state.h);
    }
    std::shared_ptr<Decoder> inner;
  } net;
  net.seed(Key(4));
  const Array x = random::normal(Key(1), {5, 3, 4});
  EXPECT_EQ(net(x).shape(), (Shape{5, 3, 3}));
  EXPECT_EQ(net.get_buffer("inner.norm.num_batches_tracked").item<int64_t>(), 1);
  EXPECT_THROW(net(ones({5, 3, 3})), ShapeError);
}

TEST(ModuleForward, OwnsWhatItNeedsOrSaysThatItEnded) {
  const Array x = random::normal(Key(1), {5, 4});
  std::optional<Functional<Net>> f;
  Array expected;
  {
    Net net(Key(0));
    f = functionalize(net);
    expected = f->apply(f->params, f->buffers, {}, x).first;
  }
  EXPECT_THROW(f->apply(f->params, f->buffers, {}, x), ValueError);
  const auto moved = functionalize(Net(Key(0)));  // takes it over
  EXPECT_TRUE(array_equal(moved.apply(moved.params, moved.buffers, {}, x).first, expected));
  Net first(Key(0));
  const auto g = functionalize(first);
  Net second(std::move(first));  // the function follows the module
  EXPECT_TRUE(array_equal(g.apply(g.params, g.buffers, {}, x).first, expected));
  second.eval();
  EXPECT_TRUE(array_equal(second(x), expected));
}

}  // namespace module_forward_test
}  // namespace spruce::nn
