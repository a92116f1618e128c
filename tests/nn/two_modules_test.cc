// SPDX-License-Identifier: Apache-2.0
// Losses that call other modules than the one that is trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/message.h"
#include "tests/nn/nets.h"

namespace spruce::nn {
namespace two_modules_test {

constexpr CloseOptions kClose{.rtol = 1e-4, .atol = 1e-5};

// The key behind a call that has drawn from it.
Key next_of(const Key& key) { return random::fold_in(key, 0xffffffffu); }

// Linear, BatchNorm and Dropout, f32[n, 4] -> f32[n, 4].
struct Part : Module {
  explicit Part(int seed_of) {
    fc = register_module("fc", Linear::init(Key(seed_of), 4, 4));
    norm = register_module("norm", BatchNorm::init(4));
    drop = register_module("drop", Dropout{0.5f});
    seed(Key(seed_of));
  }
  Array forward(const Array& x) override { return drop(norm(fc(x))); }
  Stateful<Linear> fc;
  Stateful<BatchNorm> norm;
  Stateful<Dropout> drop;
};
const auto kReal = [](Part& d, const Array& x, const Array& fake) {
  return mean(d(x)) - mean(d(stop_gradient(fake)));
};
const auto kFake = [](const Array& judged) { return -mean(square(judged)); };

TEST(TwoModules, GiveInAStatefulLoopTheNumbersOfThePureOne) {
  Part g(1), d(2);
  const auto pure_g = functionalize(g), pure_d = functionalize(d);
  const Array x = random::normal(Key(3), {16, 4});
  const auto loss = [&](const NamedArrays& p) {
    const auto [y, of_g] = pure_g.apply(p, pure_g.buffers, {.training = true, .key = Key(1)}, x);
    const auto [z, of_d] =
        pure_d.apply(pure_d.params, pure_d.buffers, {.training = true, .key = Key(2)}, y);
    return std::tuple{kFake(z), of_g, of_d};
  };
  const auto [wanted, grads] = value_and_grad(loss)(pure_g.params);
  optim::Stateful optimizer(g, optim::sgd({.learning_rate = 0.0f}));
  EXPECT_TRUE(array_equal(optimizer.step([&] { return kFake(d(g(x))); }), std::get<0>(wanted)));
  EXPECT_TRUE(tree::equal(optimizer.grads(), grads));
  EXPECT_TRUE(tree::equal(g.named_buffers(), std::get<1>(wanted)));
  EXPECT_TRUE(tree::equal(d.named_buffers(), std::get<2>(wanted)));
  // A loss that throws changes neither.
  const auto fails = [&]() -> Array { return d(g(x)) + ones({3}); };
  EXPECT_THROW(optimizer.step(fails), ShapeError);
  EXPECT_TRUE(tree::equal(d.named_buffers(), std::get<2>(wanted)));
}

TEST(TwoModules, InCompiledStepsHaveTheArraysOfEachStep) {
  Part g(1), d(2), eager_g(1), eager_d(2);
  const auto fast_g = compile(g), fast_d = compile(d);
  const auto optimizer = optim::sgd({.learning_rate = 1e-1f, .momentum = 0.9f});
  auto step_d = compile_step(d, optimizer,
                             [&](Part& own, const Array& x) { return kReal(own, x, fast_g(x)); });
  auto step_g =
      compile_step(g, optimizer, [&](Part& own, const Array& x) { return kFake(d(own(x))); });
  optim::Stateful of_d(eager_d, optimizer), of_g(eager_g, optimizer);
  const Array x = random::normal(Key(3), {16, 4});
  for (int i = 0; i < 3; ++i) {
    const Array a = of_d.step([&] { return kReal(eager_d, x, eager_g(x)); });
    EXPECT_TRUE(allclose(step_d(x), a, kClose)) << i;
    const Array b = of_g.step([&] { return kFake(eager_d(eager_g(x))); });
    EXPECT_TRUE(allclose(step_g(x), b, kClose)) << i;
  }
  EXPECT_EQ(d.get_buffer("norm.num_batches_tracked").item<int64_t>(), 9);
  for (const auto& [name, value] : eager_d.state_dict())
    EXPECT_TRUE(allclose(d.state_dict().at(name), value, kClose)) << name;
  EXPECT_EQ(step_d.trace_count() + step_g.trace_count(), 2);
  g.eval();
  step_d(x);
  EXPECT_EQ(step_d.trace_count(), 2);
  // Compiled modules in a loss that is not compiled.
  Part other(1);
  optim::Stateful of_other(other, optimizer);
  of_other.step([&] { return kFake(fast_d(other(x))); });
  EXPECT_EQ(d.get_buffer("norm.num_batches_tracked").item<int64_t>(), 12);
}

TEST(TwoModules, ArraysThatALossReadsAreThoseOfTheStep) {
  Part own(1), teacher(2);
  own.eval();
  auto step = compile_step(own, optim::sgd({.learning_rate = 0.0f}), [&](Part& net) {
    Array loss = sum(net.fc.layer().bias.value() - teacher.fc.layer().bias.value());
    for (const auto& [name, value] : teacher.named_parameters()) loss = loss + sum(value);
    return loss + sum(teacher.get_buffer("norm.running_mean"));
  });
  const float before = step().item<float>();
  teacher.set_arrays({{"fc.bias", teacher.get_parameter("fc.bias") + 1.0f},
                      {"norm.bias", full({4}, 1.0f)},
                      {"norm.running_mean", full({4}, 2.0f)}});
  EXPECT_NEAR(step().item<float>() - before, -4 + 4 + 4 + 8, 1e-4);
  EXPECT_EQ(step.trace_count(), 1);
  // A penalty on all parameters, and a whole that is called in the loss of its part.
  const auto [value, grads] = value_and_grad(own, [&] {
    Array loss = 0.0f;
    for (const auto& [name, p] : own.named_parameters()) loss = loss + sum(p * p);
    return loss + sum(own.state_dict().at("fc.bias"));
  });
  EXPECT_TRUE(array_equal(grads.at("fc.weight"), 2.0f * own.get_parameter("fc.weight")));
  EXPECT_TRUE(array_equal(grads.at("fc.bias"), 2.0f * own.get_parameter("fc.bias") + 1.0f));
  const auto loss = [&] { return sum(square(own(ones({2, 4})))); };
  EXPECT_TRUE(array_equal(value_and_grad(own.fc, loss).second.at("weight"),
                          value_and_grad(own, loss).second.at("fc.weight")));
}

TEST(TwoModules, MayBeCalledWithinATransformInTheLoss) {
  Part own(1), other(2);
  other.norm.eval();
  const Array x = random::normal(Key(3), {4, 4}), key = other.node()->key.data();
  const auto twice = [&](const Array& a) { return other(other(a)); };
  value_and_grad(own, [&] { return sum(checkpoint(twice)(own(x))); });
  EXPECT_FALSE(other.node()->key.data().is_tracer());
  EXPECT_FALSE(array_equal(other.node()->key.data(), key));
  // The same keys where the other one is compiled.
  const auto fast = compile(other);
  other.seed(Key::wrap(key));
  const auto compiled = [&](const Array& a) { return fast(fast(a)); };
  value_and_grad(own, [&] { return sum(checkpoint(compiled)(own(x))); });
  EXPECT_TRUE(array_equal(other.node()->key.data(), next_of(next_of(Key::wrap(key))).data()));
  other.norm.train();
  value_and_grad(own, [&] { return sum(checkpoint(twice)(own(x))); });
  EXPECT_EQ(other.get_buffer("norm.num_batches_tracked").item<int64_t>(), 2);
  const auto loss = [&] { return sum(vmap(twice)(stack({own(x), own(x)}))); };
  EXPECT_THAT(
      message<TracerError>([&] { value_and_grad(own, loss); }),
      testing::HasSubstr("'norm.running_mean' of Part would become a traced value of vmap"));
}

// Reads arrays of another module in its forward.
struct Reader : Module {
  explicit Reader(Part& of) : of_(of) {
    fc = register_module("fc", Linear::init(Key(5), 4, 4));
    drop = register_module("drop", Dropout{0.5f});
    seed(Key(6));
  }
  Array forward(const Array& x) override { return drop(fc(x)) * of_.get_parameter("fc.bias"); }
  Stateful<Linear> fc;
  Stateful<Dropout> drop;
  Part& of_;
};

TEST(TwoModules, OneMayReadTheOtherThatIsTrained) {
  const auto optimizer = optim::sgd({.learning_rate = 0.1f});
  const Array x = random::normal(Key(3), {6, 4});
  Part eager(1), with_fast(1), compiled(1);
  for (Part* p : {&eager, &with_fast, &compiled}) p->set_arrays({{"fc.bias", full({4}, 0.5f)}});
  Reader of_eager(eager), of_fast(with_fast), of_compiled(compiled);
  const auto fast = compile(of_fast);
  optim::Stateful a(eager, optimizer), b(with_fast, optimizer);
  auto step = compile_step(compiled, optimizer, [&](Part& own, const Array& data) {
    return sum(square(own(data))) + sum(of_compiled(own(data)));
  });
  for (int i = 0; i < 3; ++i) {
    const Key before = eager.node()->key;
    const Array wanted = a.step([&] { return sum(square(eager(x))) + sum(of_eager(eager(x))); });
    EXPECT_FALSE(array_equal(eager.node()->key.data(), before.data())) << i;
    EXPECT_TRUE(
        allclose(b.step([&] { return sum(square(with_fast(x))) + sum(fast(with_fast(x))); }),
                 wanted, kClose));
    EXPECT_TRUE(allclose(step(x), wanted, kClose)) << i;
  }
  for (const auto& [name, value] : eager.state_dict()) {
    EXPECT_TRUE(allclose(with_fast.state_dict().at(name), value, kClose)) << name;
    EXPECT_TRUE(allclose(compiled.state_dict().at(name), value, kClose)) << name;
  }
  for (const Reader* r : {&of_fast, &of_compiled})
    EXPECT_TRUE(array_equal(r->node()->key.data(), of_eager.node()->key.data()));
}

TEST(TwoModules, KeysThatAreNotDrawnFromStayAsTheLossLeavesThem) {
  Part own(1), other(2), alone(2);
  const auto optimizer = optim::sgd({.learning_rate = 0.1f});
  optim::Stateful inner(other, optimizer), wanted(alone, optimizer);
  const Array x = random::normal(Key(3), {6, 4});
  for (int i = 0; i < 3; ++i) {
    Array of_inner;
    value_and_grad(own, [&] {
      of_inner = inner.step([&] { return sum(square(other(x))); });
      return sum(own(x));
    });
    EXPECT_TRUE(array_equal(of_inner, wanted.step([&] { return sum(square(alone(x))); }))) << i;
  }
  value_and_grad(own, [&] {
    own.seed(Key(8));
    return sum(own(x));
  });
  EXPECT_TRUE(array_equal(own.node()->key.data(), next_of(Key(8)).data()));
}

TEST(TwoModules, AllOthersAreFoundInOneTrace) {
  Part own(1), first(2), second(3);
  const auto optimizer = optim::sgd({.learning_rate = 0.1f});
  const Array x = random::normal(Key(3), {6, 4});
  int runs = 0;
  auto step = compile_step(own, optimizer, [&](Part& net, const Array& data) {
    ++runs;
    Array loss = sum(net(data));
    try {
      loss = loss + sum(first(data)) + sum(second(data));
    } catch (...) {
      ADD_FAILURE() << "the search for other modules went through the loss";
    }
    // One that is made here is no other module.
    const Stateful<Linear> local(Linear::init(Key(4), 4, 1));
    return loss + sum(local(data));
  });
  step(x);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(second.get_buffer("norm.num_batches_tracked").item<int64_t>(), 1);
  std::vector<std::unique_ptr<Part>> made;
  auto endless = compile_step(own, optimizer, [&](Part& net, const Array& data) {
    made.push_back(std::make_unique<Part>(4));
    return sum(net(data)) + sum((*made.back())(data));
  });
  EXPECT_THAT(message<ValueError>([&] { endless(x); }), testing::HasSubstr("make them once"));
}

TEST(TwoModules, AReplacedOneIsTracedAgain) {
  Part own(1);
  auto teacher = std::make_unique<Part>(2);
  Stateful<Linear> head(Linear::init(Key(4), 4, 1));
  const Array x = random::normal(Key(3), {6, 4});
  auto step =
      compile_step(own, optim::sgd({.learning_rate = 0.0f}), [&](Part& net, const Array& data) {
        return sum(head(teacher->fc(data))) + 0.0f * sum(net(data));
      });
  const auto check = [&] { EXPECT_TRUE(allclose(step(x), sum(head(teacher->fc(x))), kClose)); };
  check();
  teacher = std::make_unique<Part>(3);
  check();
  head = Stateful<Linear>(Linear::init(Key(5), 4, 1));
  check();
  check();
  EXPECT_EQ(step.trace_count(), 3);
}

TEST(TwoModules, RulesOfGradientsHaveTheArraysOfEachStep) {
  Part own(1), teacher(2);
  own.eval();
  const auto scaled = custom_vjp([](const Array& a) { return a * 1.0f; },
                                 [](const Array& a) {
                                   return std::pair{a * 1.0f, a};
                                 },
                                 [&](const Array&, const Array& g) {
                                   return std::tuple{g * teacher.get_parameter("fc.bias")};
                                 });
  auto step = compile_step(own, optim::sgd({.learning_rate = 1.0f}),
                           [&](Part& net) { return sum(scaled(net.fc.layer().bias.value())); });
  for (const float factor : {1.0f, 3.0f}) {
    teacher.set_arrays({{"fc.bias", full({4}, factor)}});
    const Array before = own.get_parameter("fc.bias");
    step();
    EXPECT_TRUE(allclose(before - own.get_parameter("fc.bias"), full({4}, factor), kClose));
  }
  EXPECT_EQ(step.trace_count(), 1);
}

// Keeps the mean of what it has seen, which has no value at first.
struct Seen {
  spruce::Buffer last;
  Array operator()(const Array& x, Context& ctx) const {
    if (ctx.training) ctx.update(last, stop_gradient(mean(x, 0)));
    return x * 2.0f;
  }
};

TEST(TwoModules, BuffersWithoutAValueGetOne) {
  Part own(1);
  const Array x = ones({2, 4});
  Stateful<Seen> eager(Seen{}), compiled(Seen{});
  value_and_grad(own, [&] { return sum(own(eager(x))); });
  EXPECT_TRUE(array_equal(eager.get_buffer("last"), ones({4})));
  auto step = compile_step(own, optim::sgd({.learning_rate = 0.0f}),
                           [&](Part& net) { return sum(net(compiled(x))); });
  EXPECT_THAT(message<TreeError>([&] { step(); }),
              testing::HasSubstr("a layer has updated 'last', which has no array in the module"));
  compiled(x);
  step();
  const auto fast = compile(compiled);
  fast(2.0f * x);
  EXPECT_TRUE(array_equal(compiled.get_buffer("last"), full({4}, 2.0f)));
}

TEST(TwoModules, TracedKeysAreRefused) {
  Part net(1);
  net.norm.eval();
  const auto fast = compile(net);
  const Array x = ones({2, 4}), key = net.node()->key.data();
  const std::string wanted =
      "Module: the key of Part would become a traced value; inside of grad, vmap or jit use "
      "functionalize(module), which takes a key at each call, or put the module into evaluation "
      "mode";
  EXPECT_EQ(message<TracerError>([&] { jit([&](const Array& a) { return net(a); })(x); }), wanted);
  EXPECT_EQ(message<TracerError>([&] { jit([&](const Array& a) { return fast(a); })(x); }), wanted);
  EXPECT_TRUE(array_equal(net.node()->key.data(), key));
  // Where another module's buffer is traced, the message names that one.
  Part own(2);
  const auto step = [&](const Array& a) {
    return value_and_grad(own.fc, [&] { return sum(fast(own.fc(a))); }).first;
  };
  net.norm.train();
  EXPECT_THAT(message<TracerError>([&] { jit(step)(x); }),
              testing::HasSubstr("value_and_grad: 'norm.running_mean' of Part would become"));
}

}  // namespace two_modules_test
}  // namespace spruce::nn
