// SPDX-License-Identifier: Apache-2.0
// What is in a module: parts and arrays by path, shared ones, frozen ones, conversion, printing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/nn/nets.h"

namespace spruce::nn {
namespace module_parts_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ModuleParts, SummaryOfTheLayers) {
  Net net(Key(0));  // in training mode and without a key: neither counts
  const NamedArrays before = net.state_dict();
  const Summary s = summary(net, ones({5, 4}));
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
  std::vector<std::string> rows;
  for (const LayerSummary& l : s.layers) {
    rows.push_back(l.path + " " + l.type + " " + spruce::to_string(l.output.shape) + " " +
                   std::to_string(l.parameters) + " " + std::to_string(l.multiply_adds));
  }
  EXPECT_THAT(rows, ElementsAre("block.fc Linear [5,8] 40 160", "block.norm BatchNorm [5,8] 16 0",
                                "drop Dropout [5,8] 0 0", "out Linear [5,2] 18 80"));
  EXPECT_EQ(s.parameters, 75);  // and "gain"
  EXPECT_EQ(s.parameters, count(net));
  EXPECT_EQ(s.buffers, 18);
  EXPECT_EQ(s.multiply_adds, 240);
  EXPECT_EQ(summary(net.out, ones({5, 8})).layers[0].path, "");
  EXPECT_EQ(count(net.out), 18);
}

TEST(ModuleParts, CaptureOfTheLayers) {
  Net net(Key(0));
  net.seed(Key(1));
  const Array x = random::normal(Key(2), {5, 4});
  const auto [output, values] = capture(net, x);
  EXPECT_EQ(net.get_buffer("calls").item<float>(), 1);
  EXPECT_EQ(values.size(), 4u);
  EXPECT_TRUE(array_equal(output, 2.0f * values.at("out")[0]));
  EXPECT_TRUE(array_equal(net.out.layer()(values.at("drop")[0]), values.at("out")[0]));
  EXPECT_EQ(capture(net.out, ones({5, 8})).values.begin()->first, "");
}

TEST(ModuleParts, OfNoModuleAreAnError) {
  Net net(Key(0));
  const Array x = ones({5, 4});
  net.eval();
  const Array wanted = net(x);
  Net other = std::move(net);
  EXPECT_TRUE(array_equal(other(x), wanted));
  EXPECT_THROW(net(x), ValueError);
  EXPECT_THROW(net.train(), ValueError);
  EXPECT_THROW(net.named_parameters(), ValueError);
  const Stateful<Linear> none;
  EXPECT_THROW(none.eval(), ValueError);
  EXPECT_THROW(none.state_dict(), ValueError);
  EXPECT_THROW(none.register_forward_hook([](auto&&...) {}), ValueError);
  EXPECT_THROW(ModuleRef(nullptr).modules(), ValueError);
  EXPECT_EQ(none.to_string(), "Stateful()");
  Net again = std::move(net);  // of nothing
  EXPECT_THROW(again.key(), ValueError);
}

std::vector<std::string> paths(const std::vector<std::pair<std::string, ModuleRef>>& modules) {
  std::vector<std::string> out;
  for (const auto& [path, module] : modules) out.push_back(path);
  return out;
}

template <class E, class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

TEST(ModuleParts, AreListedWithTheirPathsAsInPyTorch) {
  Net net(Key(0));
  EXPECT_THAT(paths(net.named_modules()),
              ElementsAre("", "block", "block.fc", "block.norm", "drop", "out"));
  EXPECT_THAT(paths(net.named_children()), ElementsAre("block", "drop", "out"));
  EXPECT_EQ(net.modules().size(), 6u);
  EXPECT_EQ(net.children().size(), 3u);
  EXPECT_EQ(net.get_submodule("block.fc").name(), "Linear");
  EXPECT_TRUE(net.get_submodule("") == net);
  EXPECT_TRUE(net.get_submodule("block") == *net.block);
  EXPECT_THAT(message<TreeError>([&] { net.get_submodule("block.fe"); }),
              HasSubstr("'block' has no part 'fe'; it has 'fc', 'norm'"));
  EXPECT_THROW(net.get_submodule("out."), TreeError);
  EXPECT_THROW(net.get_submodule("."), TreeError);
  EXPECT_THROW(net.get_submodule("out.x"), TreeError);
}

TEST(ModuleParts, ArraysAreFoundByPath) {
  Net net(Key(0));
  EXPECT_EQ(net.get_parameter("block.fc.weight").shape(), (Shape{8, 4}));
  EXPECT_EQ(net.get_buffer("block.norm.running_mean").shape(), (Shape{8}));
  EXPECT_THAT(message<TreeError>([&] { net.get_parameter("block.fc.wieght"); }),
              HasSubstr("did you mean 'block.fc.weight'"));
  EXPECT_THROW(net.get_parameter("calls"), TreeError);
  EXPECT_THROW(net.get_buffer("gain"), TreeError);
  net.set_arrays({{"gain", Array(3.0f).astype(float32)}, {"calls", full({}, 2.0f)}});
  EXPECT_EQ(net.get_buffer("calls").item<float>(), 2);
  const NamedArrays before = net.state_dict();
  EXPECT_THROW(net.set_arrays({{"gain", ones({})}, {"no", ones({})}}), TreeError);
  EXPECT_THROW(net.set_arrays({{"gain", ones({})}, {"calls", ones({1})}}), ShapeError);
  EXPECT_THROW(net.set_arrays({{"gain", ones({})}, {"calls", ones({}, int32)}}), DtypeError);
  EXPECT_TRUE(tree::equal(net.state_dict(), before));
}

TEST(ModuleParts, LayersAreReadCalledAndReplacedByPath) {
  Net net(Key(0));
  const auto fc = net.get_layer<Linear>("block.fc");
  EXPECT_EQ(fc(ones({2, 4})).shape(), (Shape{2, 8}));
  EXPECT_THAT(message<TreeError>([&] { net.get_layer<Conv2d>("block.fc"); }),
              HasSubstr("'block.fc' is a layer of type Linear, not Conv2d"));
  EXPECT_THROW(net.get_layer<Linear>("block"), TreeError);
  net.eval();
  net.set_layer("out", Linear::init(Key(5), 8, 7));
  EXPECT_EQ(net(ones({2, 4})).shape(), (Shape{2, 7}));
  EXPECT_EQ(net.get_parameter("out.weight").shape(), (Shape{7, 8}));
  EXPECT_THROW(net.set_layer("out", Dropout{0.5f}), TreeError);
}

TEST(ModuleParts, AModuleIsReplacedInItsPlace) {
  Net net(Key(0));
  net.eval();
  const std::vector<std::string> before = names(net.state_dict());
  const auto other = std::make_shared<Block>(Key(7));
  other->eval();
  const auto old = net.block;
  net.replace_module("block", other);
  EXPECT_EQ(names(net.state_dict()), before);
  EXPECT_THROW(net(ones({2, 4})), ValueError);  // forward still calls the old one
  net.block = other;
  EXPECT_TRUE(array_equal(net.get_parameter("block.fc.weight"), other->get_parameter("fc.weight")));
  EXPECT_EQ(net(ones({2, 4})).shape(), (Shape{2, 2}));
  EXPECT_THROW(net.replace_module("blok", old), TreeError);
  EXPECT_THROW(net.replace_module("block", std::shared_ptr<Block>()), ValueError);
  EXPECT_EQ(names(net.state_dict()), before);
  net.add_module("more", Linear::init(Key(0), 2, 2));
  EXPECT_EQ(net.get_submodule("more").name(), "Linear");
}

// Input and output share their weights.
struct Tied : Module {
  Tied() {
    encode = register_module("encode", Embedding::init(Key(0), 10, 4));
    decode = register_module("decode", Linear::init(Key(1), 4, 10, {.bias = false}));
    tie("decode.weight", "encode.weight");
  }
  Array forward(const Array& x) override { return decode(encode(x)); }
  Stateful<Embedding> encode;
  Stateful<Linear> decode;
};

TEST(ModuleParts, TiedWeightsAreOneParameterWithTwoNames) {
  Tied net;
  EXPECT_THAT(names(net.named_parameters()), ElementsAre("encode.weight"));
  EXPECT_THAT(names(net.state_dict()), ElementsAre("encode.weight", "decode.weight"));
  const Array x = array({1, 2, 3});
  const auto f = functionalize(net);
  const auto loss = [&](const NamedArrays& p) {
    const Array y = f.apply(p, f.buffers, {}, x).first;
    return sum(y * y);
  };
  const auto g = grad(loss)(f.params);
  EXPECT_EQ(g.size(), 1u);
  const Array w = net.get_parameter("decode.weight");
  const Array expected = grad([&](const Array& a) {
    const Array y = matmul(take(a, x, 0), transpose(a));
    return sum(y * y);
  })(w);
  EXPECT_TRUE(allclose(g.at("encode.weight"), expected, {.rtol = 1e-4}));
  restore(net, {{"encode.weight", 2.0f * w}}, {});
  EXPECT_TRUE(array_equal(net.get_parameter("decode.weight"), 2.0f * w));
  Tied other;
  other.load_state_dict(net.state_dict());
  EXPECT_TRUE(array_equal(other.get_parameter("encode.weight"), 2.0f * w));
  EXPECT_THROW(net.tie("decode.weight", "encode.wait"), TreeError);
  Net wrong(Key(0));
  EXPECT_THROW(wrong.tie("out.weight", "block.fc.weight"), ShapeError);
  EXPECT_THROW(wrong.tie("gain", "calls"), ShapeError);
}

TEST(ModuleParts, FrozenParametersAreConstants) {
  Net net(Key(0));
  net.requires_grad(false).requires_grad("out");
  EXPECT_THAT(names(net.trainable_parameters()), ElementsAre("out.weight", "out.bias"));
  EXPECT_EQ(net.named_parameters().size(), 7u);
  const auto f = functionalize(net);
  const Array x = random::normal(Key(1), {5, 4});
  const auto g =
      grad([&](const NamedArrays& p) { return sum(f.apply(p, f.buffers, {}, x).first); })(f.params);
  EXPECT_FALSE(any(g.at("block.fc.weight") != 0.0f).item<bool>());
  EXPECT_TRUE(any(g.at("out.weight") != 0.0f).item<bool>());
  net.requires_grad("out.bias", false);
  EXPECT_THAT(names(net.trainable_parameters()), ElementsAre("out.weight"));
  EXPECT_THROW(net.requires_grad("ou", false), TreeError);
}

TEST(ModuleParts, ConversionKeepsIntegersAndSharing) {
  Tied tied;
  tied.to_half();
  EXPECT_EQ(tied.get_parameter("decode.weight").dtype(), float16);
  EXPECT_EQ(tied.named_parameters().size(), 1u);
  Net net(Key(0));
  net.to_double();
  EXPECT_EQ(net.get_parameter("out.weight").dtype(), float64);
  EXPECT_EQ(net.get_buffer("block.norm.running_mean").dtype(), float64);
  EXPECT_EQ(net.get_buffer("block.norm.num_batches_tracked").dtype(), int64);
  net.eval();
  EXPECT_EQ(net(ones({2, 4}, float64)).dtype(), float64);
  net.to_float().to(bfloat16);
  EXPECT_EQ(net.get_parameter("out.weight").dtype(), bfloat16);
  EXPECT_THROW(net.to(int32), DtypeError);
}

TEST(ModuleParts, ApplyGoesFromTheInside) {
  Net net(Key(0));
  std::vector<std::string> order;
  net.apply([&](const ModuleRef& m) { order.push_back(m.name()); });
  EXPECT_THAT(order, ElementsAre("Linear", "BatchNorm", "Block", "Dropout", "Linear", "Net"));
}

TEST(ModuleParts, BuffersThatAreNotPersistentAreInNoState) {
  struct Cache : Holder {
    Cache() {
      register_buffer("kept", zeros({2}));
      register_buffer("scratch", zeros({2}), false);
    }
  } net;
  EXPECT_THAT(names(net.named_buffers()), ElementsAre("kept", "scratch"));
  EXPECT_THAT(names(net.state_dict()), ElementsAre("kept"));
  EXPECT_TRUE(net.load_state_dict({{"kept", ones({2})}}).missing.empty());
  EXPECT_THROW(net.load_state_dict({{"kept", ones({2})}, {"scratch", ones({2})}}), TreeError);
}

TEST(ModuleParts, StatesHavePrefixesAndOtherNames) {
  Net net(Key(0)), other(Key(1));
  NamedArrays state = net.state_dict({.prefix = "model."});
  EXPECT_EQ(state.name(0), "model.gain");
  state.insert("optimizer.step", ones({}));
  const LoadReport report = other.load_state_dict(state, {.prefix = "model."});
  EXPECT_TRUE(report.unexpected.empty());
  EXPECT_TRUE(tree::equal(other.state_dict(), net.state_dict()));
  NamedArrays renamed;
  for (const auto& [name, value] : net.state_dict())
    renamed.insert(name.starts_with("out.") ? "head." + name.substr(4) : name, value);
  Net third(Key(2));
  const auto rename = [](const std::string& path) {
    return path.starts_with("out.") ? "head." + path.substr(4) : path;
  };
  third.load_state_dict(renamed, {.rename = rename});
  EXPECT_TRUE(tree::equal(third.state_dict(), net.state_dict()));
  EXPECT_THROW(third.load_state_dict(renamed), TreeError);
}

TEST(ModuleParts, DtypesThatDifferAreSaid) {
  Net net(Key(0));
  NamedArrays state = net.state_dict();
  state.at("out.bias") = zeros({2}, float64);
  EXPECT_THAT(net.load_state_dict(state).converted, ElementsAre("out.bias: f64 to f32"));
}

TEST(ModuleParts, PrintAsPyTorchDoes) {
  Net net(Key(0));
  std::ostringstream out;
  out << net;
  EXPECT_THAT(out.str(), ::testing::StartsWith("Net(\n  (block): Block(\n    (fc): Linear("));
  EXPECT_THAT(out.str(), HasSubstr("    (norm): BatchNorm("));
  EXPECT_THAT(out.str(), HasSubstr("\n  )\n  (drop): Dropout(p=0.5)\n  (out): Linear("));
  EXPECT_THAT(out.str(), ::testing::EndsWith("\n)"));
}

TEST(ModuleParts, TypesAreNamedWithoutNamespaces) {
  EXPECT_EQ(internal::type_name(typeid(Linear)), "Linear");
  EXPECT_EQ(internal::type_name(typeid(Net)), "Net");
}

// A list of layers, and one of modules in a map.
struct Lists : Module {
  Lists() {
    layers = register_module(
        "layers", ModuleList<Linear>{Linear::init(Key(0), 4, 4), Linear::init(Key(1), 4, 4)});
    layers.append(Linear::init(Key(2), 4, 4));
    blocks = register_module("blocks", ModuleDict<Block>{{"b", std::make_shared<Block>(Key(3))},
                                                         {"a", std::make_shared<Block>(Key(4))}});
  }
  Array forward(const Array& x) override {
    Array y = x;
    for (const auto& layer : layers) y = layer(y);
    return (*blocks["a"])(y) + (*blocks["b"])(y);
  }
  ModuleList<Linear> layers;
  ModuleDict<Block> blocks;
};

TEST(ModuleParts, ListsAndMapsAreModules) {
  Lists net;
  net.eval();
  EXPECT_EQ(net(ones({2, 4})).shape(), (Shape{2, 8}));
  const std::vector<std::string> all = names(net.named_parameters());
  EXPECT_EQ(all.size(), 14u);
  EXPECT_EQ(all[0], "layers.0.weight");
  EXPECT_EQ(all[4], "layers.2.weight");
  EXPECT_EQ(all[6], "blocks.b.fc.weight");
  EXPECT_EQ(net.layers.size(), 3u);
  EXPECT_THROW(net.layers[3], TreeError);
  EXPECT_THROW(net.blocks["c"], TreeError);
  EXPECT_TRUE(net.blocks.contains("a"));
  EXPECT_THROW(net.blocks.insert("a", std::make_shared<Block>(Key(0))), ValueError);
  EXPECT_THROW(net.blocks.insert("x", nullptr), ValueError);
  EXPECT_THROW(net.blocks.insert("x.y", std::make_shared<Block>(Key(0))), ValueError);
  const auto f = functionalize(net);
  EXPECT_TRUE(array_equal(f.apply(f.params, f.buffers, {}, ones({2, 4})).first, net(ones({2, 4}))));
  EXPECT_THAT(net.to_string(), HasSubstr("(layers): ModuleList(\n    (0): Linear("));
}

}  // namespace module_parts_test
}  // namespace spruce::nn
