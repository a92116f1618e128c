// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/core/message.h"
#include "tests/nn/nets.h"

namespace spruce::nn {
namespace module_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Module, NamesStandInTheOrderOfRegistrationAsInPyTorch) {
  Net net(Key(0));
  EXPECT_THAT(names(net.state_dict()),
              ElementsAre("gain", "calls", "block.fc.weight", "block.fc.bias", "block.norm.weight",
                          "block.norm.bias", "block.norm.running_mean", "block.norm.running_var",
                          "block.norm.num_batches_tracked", "out.weight", "out.bias"));
  EXPECT_THAT(names(net.named_parameters()),
              ElementsAre("gain", "block.fc.weight", "block.fc.bias", "block.norm.weight",
                          "block.norm.bias", "out.weight", "out.bias"));
  EXPECT_THAT(names(net.named_buffers()),
              ElementsAre("calls", "block.norm.running_mean", "block.norm.running_var",
                          "block.norm.num_batches_tracked"));
}

// One layer under two names, as weights are tied in PyTorch.
struct Tied : Module {
  explicit Tied(std::shared_ptr<Net> shared)
      : first(register_module("first", shared)), second(register_module("second", shared)) {}
  Array forward(const Array& x) override { return (*first)(x) + (*second)(x); }
  std::shared_ptr<Net> first, second;
};

TEST(Module, SharedModulesStandUnderAllTheirNamesInTheStateAsInPyTorch) {
  Tied tied(std::make_shared<Net>(Key(0)));
  const size_t once = Net(Key(0)).state_dict().size();
  NamedArrays state = tied.state_dict();
  EXPECT_EQ(state.size(), 2 * once);
  EXPECT_TRUE(array_equal(state.at("first.out.bias"), state.at("second.out.bias")));
  EXPECT_FALSE(tied.named_parameters().contains("second.out.bias"));
  // A file of PyTorch has both; the last one counts.
  NamedArrays changed;
  for (const auto& [name, value] : state)
    changed.insert(name, name == "second.out.bias" ? value + 1.0f : value);
  tied.load_state_dict(changed);
  EXPECT_TRUE(array_equal(tied.first->state_dict().at("out.bias"), changed.at("second.out.bias")));
  const Functional pure = functionalize(tied);
  restore(tied, pure.params, pure.buffers);
  EXPECT_TRUE(array_equal(tied.state_dict().at("first.out.bias"), changed.at("second.out.bias")));
}

TEST(Module, ComputesWhatItsLayersDo) {
  Net net(Key(0));
  net.eval();
  const auto [k1, k2] = random::split<2>(Key(0));
  const Array x = random::normal(Key(1), {5, 4});
  const Array hidden = BatchNorm::init(8)(Linear::init(k1, 4, 8)(x));
  EXPECT_TRUE(allclose(net(x), 2.0f * Linear::init(k2, 8, 2)(hidden)));
}

TEST(Module, TrainingUpdatesBuffersAndEvaluationDoesNot) {
  Net net(Key(0));
  net.seed(Key(9));
  const Array x = random::normal(Key(1), {5, 4});
  EXPECT_TRUE(net.training());
  const Array first = net(x), second = net(x);
  EXPECT_FALSE(array_equal(first, second));  // another key
  EXPECT_EQ(net.state_dict().at("calls").item<float>(), 2);
  EXPECT_EQ(net.state_dict().at("block.norm.num_batches_tracked").item<int64_t>(), 2);
  net.seed(Key(9));
  EXPECT_TRUE(array_equal(net(x), first));
  net.eval();
  const NamedArrays before = net.state_dict();
  EXPECT_TRUE(array_equal(net(x), net(x)));
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
}

TEST(Module, ModeReachesNestedModulesAlsoWhenTheyAreCalledAlone) {
  Net net(Key(0));
  const Array x = random::normal(Key(1), {5, 4});
  net.eval();
  EXPECT_FALSE(net.block->training());
  (*net.block)(x);
  EXPECT_EQ(net.state_dict().at("block.norm.num_batches_tracked").item<int64_t>(), 0);
  net.train();
  EXPECT_TRUE(net.block->training());
  (*net.block)(x);
  EXPECT_EQ(net.state_dict().at("block.norm.num_batches_tracked").item<int64_t>(), 1);
  net.seed(Key(9));
  net.block->eval();  // a frozen part
  net(x);
  EXPECT_EQ(net.state_dict().at("block.norm.num_batches_tracked").item<int64_t>(), 1);
  EXPECT_EQ(net.state_dict().at("calls").item<float>(), 1);
}

TEST(Module, ThrowingForwardChangesNothing) {
  Net net(Key(0));
  net.seed(Key(9));
  const NamedArrays before = net.state_dict();
  EXPECT_THROW(net(ones({5, 3})), ShapeError);
  EXPECT_THROW(net(ones({1, 4})), ValueError);  // one value for each channel, after the first layer
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
}

TEST(Module, TracedBuffersAreRefused) {
  Net net(Key(0));
  net.seed(Key(9));
  const NamedArrays before = net.state_dict();
  const auto loss = [&](const Array& x) { return sum(net(x)); };
  EXPECT_THAT(message<TracerError>([&] {
                grad(loss)(ones({5, 4}));
              }),
              HasSubstr("' of Net would become a traced value"));
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
  net.eval();
  EXPECT_EQ(grad(loss)(ones({5, 4})).shape(), (Shape{5, 4}));
}

TEST(Module, NamesAreChecked) {
  struct Open : Module {
    Array forward(const Array& x) override { return layer(x); }
    using Module::buffer;
    using Module::parameter;
    using Module::register_buffer;
    using Module::register_module;
    using Module::register_parameter;
    using Module::update_buffer;
    Stateful<Linear> layer;
  };
  Open m;
  const Linear layer = Linear::init(Key(0), 2, 2);
  m.register_module("a", layer);
  m.register_parameter("p", ones({1}));
  m.register_buffer("b", ones({1}));
  for (const char* name : {"a", "p", "b", "", "x.y"}) {
    EXPECT_THROW(m.register_module(name, layer), ValueError) << name;
    EXPECT_THROW(m.register_parameter(name, ones({1})), ValueError) << name;
    EXPECT_THROW(m.register_buffer(name, ones({1})), ValueError) << name;
  }
  EXPECT_THROW(m.register_module("null", std::shared_ptr<Open>()), ValueError);
  EXPECT_THROW(m.parameter("q"), TreeError);
  EXPECT_THROW(m.update_buffer("p", ones({1})), ValueError);
  EXPECT_THROW(m.update_buffer("b", ones({1})), ValueError);  // outside of a call
  EXPECT_THROW(m(ones({2})), ValueError);                     // layer was never registered
  EXPECT_THAT(names(m.state_dict()), ElementsAre("p", "b", "a.weight", "a.bias"));
}

TEST(Module, HoldsNoCircles) {
  const auto outer = std::make_shared<Holder>(), inner = std::make_shared<Holder>();
  outer->register_module("inner", inner);
  EXPECT_THROW(inner->register_module("outer", outer), ValueError);
  EXPECT_THROW(inner->register_module("self", inner), ValueError);
}

TEST(Module, SharedModulesCountOnceUnderTheirFirstName) {
  const auto shared = std::make_shared<Block>(Key(0));
  Holder h;
  h.register_module("first", shared);
  h.register_module("second", shared);
  EXPECT_EQ(h.named_parameters().size(), 4u);
  EXPECT_EQ(h.state_dict().name(0), "first.fc.weight");
}

TEST(Module, LayersCanBeCalledAndReadOutsideOfForward) {
  Net net(Key(0));
  const Linear expected = Linear::init(random::split<2>(Key(0))[1], 8, 2);
  const Array x = random::normal(Key(1), {3, 8});
  EXPECT_TRUE(array_equal(net.out(x), expected(x)));
  EXPECT_TRUE(tree::equal(net.out.layer(), expected));
  net.set_arrays({{"out.bias", full({2}, 3.0f)}});
  EXPECT_TRUE(array_equal(*net.out.layer().bias, full({2}, 3.0f)));
  EXPECT_THROW(Stateful<Linear>()(x), ValueError);
  EXPECT_THROW(Stateful<Linear>().layer(), ValueError);
}

// A layer and a module that are called, and registered nowhere or elsewhere.
struct Forgetful : Module {
  enum class What { kLayer, kDropout, kModule, kElsewhere };
  explicit Forgetful(What w) : what(w) {
    if (what == What::kElsewhere) layer = other.register_layer(Linear::init(Key(0), 4, 4));
  }
  Array forward(const Array& x) override {
    if (what == What::kDropout) return drop(x);
    return what == What::kModule ? (*block)(x) : layer(x);
  }
  struct Other : Holder {
    Stateful<Linear> register_layer(const Linear& l) { return register_module("layer", l); }
  };
  What what;
  Other other;
  Stateful<Linear> layer{Linear::init(Key(0), 4, 4)};
  Stateful<Dropout> drop{Dropout{0.5f}};
  std::shared_ptr<Block> block = std::make_shared<Block>(Key(0));
};

TEST(Module, PartsThatAreNotRegisteredAreFoundWhenTheyAreCalled) {
  using What = Forgetful::What;
  for (const What what : {What::kLayer, What::kDropout, What::kModule, What::kElsewhere}) {
    Forgetful net(what);
    try {
      net(ones({5, 4}));
      FAIL() << "no error";
    } catch (const ValueError& e) {
      EXPECT_THAT(e.what(), HasSubstr("register_module"));
    }
    const Functional f = functionalize(net);
    EXPECT_THROW(f.apply(f.params, f.buffers, {}, ones({5, 4})), ValueError);
  }
}

TEST(Module, PartsMayBeRegisteredInForward) {
  struct Lazy : Holder {
    Array forward(const Array& x) override {
      if (!layer) layer = register_module("layer", Linear::init(Key(0), x.shape(-1), 2));
      return (*layer)(x);
    }
    std::optional<Stateful<Linear>> layer;
  };
  Lazy net;
  EXPECT_EQ(net(ones({3, 4})).shape(), (Shape{3, 2}));
  EXPECT_EQ(net.named_parameters().size(), 2u);
}

TEST(Module, NewValuesOfBuffersKeepShapeAndDtype) {
  struct Counter : Holder {
    Counter() { register_buffer("n", zeros({2})); }
    Array forward(const Array& x) override {
      update_buffer("n", x);
      return x;
    }
  };
  Counter net;
  EXPECT_THROW(net(ones({3})), ShapeError);
  EXPECT_THROW(net(ones({2}, int32)), DtypeError);
  EXPECT_THROW(net(Array(1.0f)), ShapeError);
  EXPECT_TRUE(array_equal(net.state_dict().at("n"), zeros({2})));
  net(ones({2}));
  EXPECT_TRUE(array_equal(net.state_dict().at("n"), ones({2})));
  const Functional f = functionalize(net);  // one example of a batch has the buffer's shape
  const auto call = [&](const Array& x) { return f.apply(f.params, f.buffers, {}, x).second; };
  EXPECT_EQ(vmap(call)(ones({4, 2})).at("n").shape(), (Shape{4, 2}));
}

TEST(ModuleState, StrictLoadingListsEverythingAndChangesNothing) {
  Net net(Key(0)), other(Key(1));
  NamedArrays state = other.state_dict();
  state.erase("out.bias");
  state.insert("extra", ones({1}));
  const NamedArrays before = net.state_dict();
  try {
    net.load_state_dict(state);
    FAIL() << "no error";
  } catch (const TreeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("missing: out.bias"));
    EXPECT_THAT(e.what(), HasSubstr("unexpected: extra"));
  }
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
  const LoadReport report = net.load_state_dict(state, {.strict = false});
  EXPECT_THAT(report.missing, ElementsAre("out.bias"));
  EXPECT_THAT(report.unexpected, ElementsAre("extra"));
  EXPECT_TRUE(array_equal(net.state_dict().at("out.weight"), state.at("out.weight")));
  EXPECT_TRUE(array_equal(net.state_dict().at("out.bias"), before.at("out.bias")));
}

TEST(ModuleState, ShapesMustFitInAnyCase) {
  Net net(Key(0)), other(Key(1));
  NamedArrays state = other.state_dict();
  state.at("out.bias") = ones({3});
  state.at("gain") = ones({2});
  const NamedArrays before = net.state_dict();
  try {
    net.load_state_dict(state, {.strict = false});
    FAIL() << "no error";
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("out.bias"));
    EXPECT_THAT(e.what(), HasSubstr("gain"));
  }
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
  state.insert("extra", ones({1}));  // names that do not fit are listed too
  const std::string all = message<ShapeError>([&] { net.load_state_dict(state); });
  EXPECT_THAT(all, HasSubstr("out.bias: the module has f32[2]"));
  EXPECT_THAT(all, HasSubstr("\n  unexpected: extra"));
}

TEST(ModuleState, CountsOfBatchesMayBeMissingAsInPyTorch) {
  Net net(Key(0));
  NamedArrays state = net.state_dict();
  state.erase("block.norm.num_batches_tracked");
  EXPECT_TRUE(net.load_state_dict(state).missing.empty());
  state.erase("block.norm.running_mean");
  EXPECT_THROW(net.load_state_dict(state), TreeError);
}

TEST(ModuleState, ClassWeightsOfLossesHavePyTorchsNamesToo) {
  Holder net;
  net.register_module("loss", CrossEntropyLoss{{.weight = array({1.0f, 2.0f})}});
  net.register_module("logits", BCEWithLogitsLoss{{.pos_weight = array({3.0f})}});
  EXPECT_THAT(names(net.state_dict()),
              ElementsAre("loss.options.weight", "logits.options.pos_weight"));
  const NamedArrays state = net.state_dict({.torch_names = true});
  EXPECT_THAT(names(state), ElementsAre("loss.weight", "logits.pos_weight"));
  net.set_arrays({{"loss.options.weight", zeros({2})}});
  net.load_state_dict(state);
  EXPECT_TRUE(array_equal(net.get_buffer("loss.options.weight"), array({1.0f, 2.0f})));
}

struct Weights {
  Array weight;
};
struct TwoWeights {
  Array weight;
  Weights options;
  Array operator()(const Array& x) const { return x * weight * options.weight; }
};

TEST(ModuleState, OptionsOfALayerThatHasSuchAWeightItselfKeepTheirName) {
  Holder net;
  net.register_module("scale", TwoWeights{ones({2}), {zeros({2})}});
  EXPECT_THAT(names(net.state_dict({.torch_names = true})),
              ElementsAre("scale.weight", "scale.options.weight"));
  EXPECT_THAT(message<TreeError>([&] {
                net.load_state_dict({{"scale.weight", ones({2})}});
              }),
              HasSubstr("missing: scale.options.weight"));
}

TEST(ModuleState, LoadingConvertsToTheModulesDtype) {
  Net net(Key(0));
  NamedArrays state = net.state_dict();
  state.at("out.bias") = array({1.5, 2.5}, float64);
  state.at("calls") = array(7);
  net.load_state_dict(state);
  EXPECT_EQ(net.state_dict().at("out.bias").dtype(), float32);
  EXPECT_EQ(net.state_dict().at("calls").item<float>(), 7);
}

TEST(ModuleState, TracedValuesAreRefused) {
  Net net(Key(0));
  const auto load = [&](const Array& b) {
    NamedArrays state = net.state_dict();
    state.at("out.bias") = b;
    net.load_state_dict(state);
    return b;
  };
  EXPECT_THROW(jit(load)(ones({2})), TracerError);
}

TEST(ModuleState, SurvivesAFile) {
  Net net(Key(0)), other(Key(1));
  net.seed(Key(2));
  net(random::normal(Key(1), {5, 4}));
  io::save_safetensors("module_test.safetensors", net.state_dict());
  const LoadReport report = other.load_state_dict(io::load_safetensors("module_test.safetensors"));
  std::remove("module_test.safetensors");
  EXPECT_TRUE(report.missing.empty() && report.unexpected.empty());
  EXPECT_TRUE(tree::equal(other.state_dict(), net.state_dict()));
}

struct Stack {
  std::vector<Linear> layers;
  Array operator()(const Array& x) const { return layers[0](x); }
};
struct Stacked : Module {
  Stacked() { stack = register_module("stack", Stack{{Linear::init(Key(0), 2, 2)}}); }
  Array forward(const Array& x) override { return stack(x); }
  Stateful<Stack> stack;
};

TEST(ModuleState, NamesOfTheFirstVersionAreRead) {
  Stacked net;
  EXPECT_THAT(names(net.state_dict()), ElementsAre("stack.layers.0.weight", "stack.layers.0.bias"));
  const LoadReport report = net.load_state_dict(
      {{"stack.layers[0].weight", full({2, 2}, 3.0f)}, {"stack.layers[0].bias", zeros({2})}});
  EXPECT_TRUE(report.missing.empty() && report.unexpected.empty());
  EXPECT_EQ(net.state_dict().at("stack.layers.0.weight").to_vector<float>()[3], 3.0f);
}

}  // namespace module_test
}  // namespace spruce::nn
