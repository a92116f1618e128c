// SPDX-License-Identifier: Apache-2.0
// Modules behind compiled functions, and stateful loops that give the numbers of pure ones.
#include "spruce/nn/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/message.h"
#include "tests/nn/nets.h"

namespace spruce::nn {
namespace compile_test {

constexpr CloseOptions kClose{.rtol = 1e-4, .atol = 1e-5};

TEST(Compile, IsTheModuleWithItsPresentArrays) {
  Net net(Key(0)), plain(Key(0));
  const auto fast = compile(net);
  for (Net* n : {&net, &plain}) n->seed(Key(9));
  const Array x = random::normal(Key(1), {5, 4});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(allclose(fast(x), plain(x), kClose)) << i;
  EXPECT_EQ(net.get_buffer("calls").item<float>(), 3);
  for (const auto& [name, value] : plain.named_buffers())
    EXPECT_TRUE(allclose(net.get_buffer(name), value, kClose)) << name;
  EXPECT_EQ(fast.trace_count(), 1);
  net.set_arrays({{"out.bias", full({2}, 3.0f)}});
  plain.set_arrays({{"out.bias", full({2}, 3.0f)}});
  EXPECT_TRUE(allclose(fast(x), plain(x), kClose));
  EXPECT_EQ(fast.trace_count(), 1);  // a changed value
}

TEST(Compile, TracesAgainForAnotherForm) {
  Net net(Key(0));
  net.seed(Key(9));
  const auto fast = compile(net);
  const Array x = random::normal(Key(1), {5, 4});
  fast(x);
  net.eval();
  EXPECT_TRUE(allclose(fast(x), net(x), kClose));
  EXPECT_EQ(fast.trace_count(), 2);
  net.train();
  fast(x);
  net.eval();
  fast(x);
  EXPECT_EQ(fast.trace_count(), 2);  // both are known
  fast(ones({6, 4}));
  EXPECT_EQ(fast.trace_count(), 3);
  HookHandle hook =
      net.out.register_forward_hook([](const ModuleRef&, std::span<const Array>,
                                       std::span<Array> out) { out[0] = out[0] + 1.0f; });
  EXPECT_TRUE(allclose(fast(x), net(x), kClose));
  EXPECT_EQ(fast.trace_count(), 4);
  hook.remove();
  EXPECT_TRUE(allclose(fast(x), net(x), kClose));
  net.set_layer("out", Linear::init(Key(4), 8, 3));
  EXPECT_EQ(fast(x).shape(), (Shape{5, 3}));
  net.to_double();
  EXPECT_EQ(fast(ones({5, 4}, float64)).dtype(), float64);
}

TEST(Compile, RefusesToKeepTracedBuffers) {
  Net net(Key(0));
  net.seed(Key(9));
  const auto fast = compile(net);
  const NamedArrays before = net.state_dict();
  EXPECT_THROW(grad([&](const Array& x) { return sum(fast(x)); })(ones({5, 4})), TracerError);
  EXPECT_THROW(fast(ones({5, 3})), ShapeError);
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
}

// Two inputs and a state.
struct Recurrent : ModuleOf<Recurrent> {
  Recurrent() { cell = register_module("cell", LSTMCell::init(Key(0), 3, 4)); }
  std::pair<Array, LSTMState> forward(const Array& x, const LSTMState& s) {
    const LSTMState next = cell(x, s);
    return {next.h, next};
  }
  Stateful<LSTMCell> cell;
};

TEST(Compile, TakesAndReturnsAnything) {
  const auto net = std::make_shared<Recurrent>();
  const auto fast = compile(net);
  LSTMState a{zeros({2, 4}), zeros({2, 4})}, b = a;
  for (int i = 0; i < 3; ++i) {
    const Array x = random::normal(Key(i), {2, 3});
    Array y, z;
    std::tie(y, a) = fast(x, a);
    std::tie(z, b) = (*net)(x, b);
    EXPECT_TRUE(allclose(y, z, kClose));
  }
  EXPECT_EQ(fast.trace_count(), 1);
  EXPECT_THROW(compile(std::shared_ptr<Recurrent>()), ValueError);
}

struct Data {
  Array x = random::normal(Key(1), {6, 4});
  Array y = random::normal(Key(2), {6, 2});
};

// Three steps of the pure loop.
NamedArrays pure_loop(Net& net, const Data& d) {
  const auto f = functionalize(net);
  const auto optimizer = optim::sgd({.learning_rate = 1e-1f, .momentum = 0.9f});
  NamedArrays params = f.params, buffers = f.buffers;
  auto state = optimizer.init(params);
  Key key(9);
  for (int i = 0; i < 3; ++i) {
    const auto loss = [&](const NamedArrays& p) {
      auto [out, next] = f.apply(p, buffers, {.training = true, .key = key}, d.x);
      return std::pair{mse_loss(out, d.y), next};
    };
    auto [result, grads] = value_and_grad(loss)(params);
    buffers = result.second;
    auto [updates, next] = optimizer.update(grads, state, params);
    params = optim::apply_updates(params, updates);
    state = next;
    key = random::fold_in(key, 0xffffffffu);
  }
  for (const auto& [name, value] : buffers) params.insert(name, value);
  return params;
}

void expect_state(const Net& net, const NamedArrays& wanted) {
  for (const auto& [name, value] : net.state_dict())
    EXPECT_TRUE(allclose(value, wanted.at(name), kClose)) << name;
}

TEST(StatefulLoop, GivesTheNumbersOfThePureOne) {
  const Data d;
  Net pure(Key(0)), stateful(Key(0)), compiled(Key(0));
  const NamedArrays wanted = pure_loop(pure, d);
  stateful.seed(Key(9));
  optim::Stateful optimizer(stateful, optim::sgd({.learning_rate = 1e-1f, .momentum = 0.9f}));
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    const Array loss = optimizer.backward([&] { return mse_loss(stateful(d.x), d.y); });
    EXPECT_FALSE(loss.is_tracer());
    optimizer.step();
  }
  expect_state(stateful, wanted);
  compiled.seed(Key(9));
  auto step =
      compile_step(compiled, optim::sgd({.learning_rate = 1e-1f, .momentum = 0.9f}),
                   [](Net& net, const Array& x, const Array& y) { return mse_loss(net(x), y); });
  for (int i = 0; i < 3; ++i) step(d.x, d.y);
  expect_state(compiled, wanted);
  EXPECT_EQ(step.trace_count(), 1);
}

// The scale falls where the loss does not: that of the step before belongs to the same parameters.
TEST(StatefulLoop, HandsTheLossToOptimizersThatTakeIt) {
  const Data d;
  const auto optimizer =
      optim::chain(optim::sgd({.learning_rate = 0.0f}),
                   optim::reduce_on_plateau({.factor = 0.5, .patience = 2, .cooldown = 0}));
  const auto loss = [](Net& net, const Array& x, const Array& y) { return mse_loss(net(x), y); };
  Net net(Key(0)), compiled(Key(0));
  net.eval();
  compiled.eval();
  optim::Stateful stateful(net, optimizer);
  auto step = compile_step(compiled, optimizer, loss);
  for (int i = 0; i < 5; ++i) {
    stateful.step([&] { return loss(net, d.x, d.y); });
    step(d.x, d.y);
  }
  EXPECT_EQ(std::get<1>(stateful.state()).scale.item<float>(), 0.25f);
  EXPECT_EQ(std::get<1>(step.state()).scale.item<float>(), 0.25f);
}

TEST(StatefulLoop, AccumulatesGradientsByName) {
  const Data d;
  Net net(Key(0));
  net.eval();
  optim::Stateful optimizer(net, optim::sgd({.learning_rate = 0.1f}));
  EXPECT_THROW(optimizer.step(), ValueError);
  const auto loss = [&] { return std::pair{mse_loss(net(d.x), d.y), Array(1.0f)}; };
  const auto [value, aux] = optimizer.backward(loss);
  EXPECT_EQ(aux.item<float>(), 1);
  const NamedArrays once = optimizer.grads();
  optimizer.backward(loss);
  EXPECT_TRUE(allclose(optimizer.grads().at("out.weight"), 2.0f * once.at("out.weight"), kClose));
  const Array before = net.get_parameter("out.weight");
  optimizer.step();
  EXPECT_TRUE(
      allclose(net.get_parameter("out.weight"), before - 0.2f * once.at("out.weight"), kClose));
  optimizer.zero_grad();
  EXPECT_TRUE(optimizer.grads().empty());
  const float first = optimizer.step(loss).first.item<float>();
  EXPECT_LT(optimizer.step(loss).first.item<float>(), first);
}

TEST(StatefulLoop, LeavesFrozenParametersAlone) {
  const Data d;
  Net net(Key(0));
  net.seed(Key(9));
  net.requires_grad(false).requires_grad("out");
  const NamedArrays before = net.named_parameters();
  optim::Stateful optimizer(net, optim::adamw({.learning_rate = 0.1f, .weight_decay = 0.1f}));
  optimizer.step([&] { return mse_loss(net(d.x), d.y); });
  EXPECT_TRUE(array_equal(net.get_parameter("block.fc.weight"), before.at("block.fc.weight")));
  EXPECT_FALSE(array_equal(net.get_parameter("out.weight"), before.at("out.weight")));
  auto step = compile_step(net, optim::adamw({.learning_rate = 0.1f, .weight_decay = 0.1f}),
                           [&](Net& n, const Array& x) { return mse_loss(n(x), d.y); });
  step(d.x);
  EXPECT_TRUE(array_equal(net.get_parameter("gain"), before.at("gain")));
  EXPECT_EQ(net.get_buffer("calls").item<float>(), 2);
}

TEST(StatefulLoop, AThrowingLossChangesNothing) {
  Net net(Key(0));
  net.seed(Key(9));
  const NamedArrays before = net.state_dict();
  optim::Stateful optimizer(net, optim::adam());
  EXPECT_THROW(optimizer.step([&] { return sum(net(ones({5, 3}))); }), ShapeError);
  EXPECT_THROW(optimizer.backward([&] { return net(ones({5, 4})); }), DerivativeError);
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
  // Two modules in one loss: the other one is a constant, and keeps its own buffers.
  Net other(Key(1));
  other.seed(Key(3));
  other.eval();
  const auto [value, grads] = value_and_grad(net, [&] {
    return sum(net(ones({5, 4}) + sum(other(ones({5, 4})))));
  });
  EXPECT_TRUE(grads.same_names(net.named_parameters()));
}

TEST(StatefulLoop, AStateThatIsRefusedChangesNothing) {
  struct Other {
    bool fails = false;
    NamedArrays trainable_parameters() const {
      return fails ? throw ValueError("not made yet") : NamedArrays{{"w", ones({2})}};
    }
    void set_arrays(const NamedArrays&) {}
  } net;
  optim::Stateful optimizer(net, optim::adam());
  const auto before = optimizer.state();
  net.fails = true;
  EXPECT_THROW(optimizer.set_state(optim::adam().init(NamedArrays{})), ValueError);
  EXPECT_TRUE(tree::equal(optimizer.state(), before));
}

TEST(StatefulLoop, SaysThatAnotherOptimizerIsNeeded) {
  Net net(Key(0));
  net.seed(Key(9));
  net.requires_grad("out", false);
  const auto loss = [](Net& n, const Array& x) { return sum(n(x)); };
  optim::Stateful optimizer(net, optim::adam());
  auto step = compile_step(net, optim::adam(), loss);
  net.requires_grad(true);
  const char* const wanted =
      ": the trainable parameters are other ones than when the optimizer was made; make a new one "
      "after requires_grad(), set_layer() or append():\n  out.weight is new\n  out.bias is new";
  EXPECT_EQ(message<TreeError>([&] { optimizer.step([&] {
                                       return loss(net, ones({5, 4}));
                                     }); }),
            std::string("step") + wanted);
  EXPECT_EQ(message<TreeError>([&] { step(ones({5, 4})); }), std::string("compile_step") + wanted);
  EXPECT_THAT(message<TreeError>([&] {
                net.requires_grad("gain", false);
                optimizer.backward([&] { return loss(net, ones({5, 4})); });
              }),
              testing::HasSubstr("call zero_grad() first"));
  net.requires_grad(false);
  EXPECT_THAT(message<DerivativeError>([&] {
                optimizer.backward([&] { return loss(net, ones({5, 4})); });
              }),
              testing::HasSubstr("Net has no parameters that are trained, all are frozen"));
}

struct Plain : Module {
  explicit Plain(const Key& key) {
    drop = register_module("drop", Dropout{0.5f});
    out = register_module("out", Linear::init(key, 4, 2));
  }
  Array forward(const Array& x) override { return out(drop(x)); }
  Stateful<Dropout> drop;
  Stateful<Linear> out;
};

TEST(CompiledStep, GoesOnFromASavedStateBitForBit) {
  const auto loss = [](Plain& n, const Array& x) { return sum(square(n(x))); };
  const Array x = ones({3, 4});
  Plain net(Key(0)), other(Key(1));
  net.seed(Key(9));
  other.seed(Key(8));
  auto step = compile_step(net, optim::adam(), loss),
       again = compile_step(other, optim::adam(), loss);
  step(x);
  again(x);
  other.load_state_dict(net.state_dict());
  other.seed(net.key());
  again.set_state(step.state());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(array_equal(step(x), again(x))) << i;
  EXPECT_TRUE(tree::equal(net.state_dict(), other.state_dict()));
  EXPECT_TRUE(tree::equal(step.state(), again.state()));
  EXPECT_EQ(again.trace_count(), 1);
}

TEST(CompiledStep, TakesHyperparametersByHand) {
  const auto tx = optim::inject_hyperparams(
      [](const optim::Hyperparams& h) { return optim::sgd({.learning_rate = h["rate"]}); },
      {{"rate", 0.5}});
  Plain net(Key(0));
  net.eval();
  auto step = compile_step(net, tx, [](Plain& n, const Array& x) { return sum(n(x)); });
  step(ones({3, 4}));
  const NamedArrays before = net.state_dict();
  auto state = step.state();
  state.hyperparams["rate"] = zeros_like(state.hyperparams["rate"]);
  step.set_state(state);
  step(ones({3, 4}));
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
  net.requires_grad(false);
  EXPECT_THROW(step.set_state(state), DerivativeError);
  EXPECT_EQ(step.trace_count(), 1);
}

TEST(CompiledStep, ReturnsWhatTheLossReturns) {
  const auto pair = [](Plain& n, const Array& x) {
    const Array y = n(x);
    return std::pair{sum(square(y)), y};
  };
  Plain net(Key(0)), other(Key(0));
  net.eval();
  other.eval();
  auto step = compile_step(net, optim::adam(), pair);
  optim::Stateful eager(other, optim::adam());
  for (int i = 0; i < 2; ++i) {
    const auto [value, y] = step(ones({3, 4}));
    const auto [value2, y2] = eager.step([&] { return pair(other, ones({3, 4})); });
    EXPECT_TRUE(allclose(value, value2, kClose) && allclose(y, y2, kClose)) << i;
  }
  const auto three = compile_step(net, optim::adam(), [](Plain& n, const Array& x) {
    return std::tuple{sum(n(x)), x, 3};
  })(ones({3, 4}));
  EXPECT_EQ(std::get<2>(three), 3);
}

}  // namespace compile_test
}  // namespace spruce::nn
