// SPDX-License-Identifier: Apache-2.0
// Lists of different modules and of parameters; whole modules as files; arrays made anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/nn/nets.h"

namespace spruce::nn {
namespace module_containers_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class E, class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

// Layers, functions and a module in one list.
struct Mixed : Module {
  Mixed() {
    parts = register_module(
        "parts", ModuleList<>{std::make_shared<Block>(Key(0)), ReLU{}, Linear::init(Key(1), 8, 3)});
    heads = register_module("heads", ModuleDict<>{{"soft", Dropout{0.5f}}});
  }
  Array forward(const Array& x) override {
    Array y = x;
    for (const auto& part : parts) y = part(y);
    return heads["soft"](y);
  }
  ModuleList<> parts;
  ModuleDict<> heads;
};

TEST(ModuleContainers, HoldModulesOfDifferentClasses) {
  Mixed net;
  EXPECT_THAT(names(net.named_parameters()),
              ElementsAre("parts.0.fc.weight", "parts.0.fc.bias", "parts.0.norm.weight",
                          "parts.0.norm.bias", "parts.2.weight", "parts.2.bias"));
  const Array x = random::normal(Key(2), {5, 4});
  net.seed(Key(3));
  const auto f = functionalize(net);
  const auto pure = f.apply(f.params, f.buffers, {.training = true, .key = Key(3)}, x);
  EXPECT_TRUE(array_equal(net(x), pure.first));
  net.eval();
  const Array expected = Linear::init(Key(1), 8, 3)(relu(net.parts[0](x)));
  EXPECT_TRUE(array_equal(net(x), expected));
  net.parts.append(Linear::init(Key(4), 3, 2));
  EXPECT_EQ(net(x).shape(), (Shape{5, 2}));
  EXPECT_THROW(net.parts.append(std::shared_ptr<Block>()), ValueError);
  EXPECT_THAT(net.to_string(), HasSubstr("    (1): ReLU()\n    (2): Linear(in_features=8"));
}

struct Products : Module {
  Products() {
    weights = register_module("weights", ParameterList{full({3, 3}, 0.5f), eye(3)});
    scales = register_module("scales", ParameterDict{{"out", full({}, 2.0f)}});
  }
  Array forward(const Array& x) override {
    Array y = x;
    for (size_t i = 0; i < weights.size(); ++i) y = matmul(y, weights[i]);
    return y * scales["out"];
  }
  ParameterList weights;
  ParameterDict scales;
};

TEST(ModuleContainers, HoldParameters) {
  Products net;
  const Array x = array({{1.0f, 2.0f, 3.0f}});
  EXPECT_THAT(names(net.named_parameters()), ElementsAre("weights.0", "weights.1", "scales.out"));
  EXPECT_TRUE(array_equal(net(x), full({1, 3}, 6.0f)));
  const auto f = functionalize(net);
  const auto g =
      grad([&](const NamedArrays& p) { return sum(f.apply(p, f.buffers, {}, x).first); })(f.params);
  EXPECT_EQ(g.at("scales.out").item<float>(), 9);
  EXPECT_TRUE(any(g.at("weights.1") != 0.0f).item<bool>());
  net.set_arrays({{"weights.1", 2.0f * eye(3)}});
  EXPECT_TRUE(array_equal(net(x), full({1, 3}, 12.0f)));
  net.weights.append(eye(3));
  EXPECT_EQ(net.weights.size(), 3u);
  EXPECT_THAT(message<TreeError>([&] { (void)net.weights[7]; }),
              HasSubstr("ParameterList: there is no parameter '7'; it has '0', '1', '2'"));
  EXPECT_THROW(net.scales.insert("out", ones({})), ValueError);
  EXPECT_THROW(net.scales.insert("a.b", ones({})), ValueError);
  EXPECT_THROW(net.scales.insert("undefined", Array()), ValueError);
  EXPECT_TRUE(net.scales.contains("out"));
  EXPECT_THAT(net.scales.keys(), ElementsAre("out"));
  EXPECT_EQ(net.to_string(),
            "Products(\n  (weights): ParameterList(0=f32[3,3], 1=f32[3,3], 2=f32[3,3])\n"
            "  (scales): ParameterDict(out=f32[])\n)");
}

// Options and sizes come from outside, as a program would read them.
struct Sized : Module {
  Sized(int64_t hidden, float p, int64_t stride) {
    conv = register_module("conv", Conv1d::init(Key(0), 2, hidden, 3, {.stride = stride}));
    norm = register_module("norm", BatchNorm::init(hidden));
    drop = register_module("drop", Dropout{p});
  }
  Array forward(const Array& x) override { return drop(norm(conv(x))); }
  Stateful<Conv1d> conv;
  Stateful<BatchNorm> norm;
  Stateful<Dropout> drop;
};

TEST(ModuleFile, HasArraysAndOptions) {
  const std::string folder = testing::TempDir();
  const Array x = random::normal(Key(1), {4, 2, 9});
  for (const char* ending : {"safetensors", "npz"}) {
    const std::string path = folder + "module_file_test." + ending;
    Sized net(8, 0.25f, 2), other(3, 0.5f, 1);
    net.seed(Key(7));
    (void)net(x);  // new running statistics
    save_module(path, net);
    load_module(path, other);
    EXPECT_EQ(other.to_string(), net.to_string());
    EXPECT_TRUE(tree::equal(other.state_dict(), net.state_dict()));
    net.seed(Key(8));
    other.seed(Key(8));
    EXPECT_TRUE(array_equal(other(x), net(x)));
    Mixed wrong;
    const std::string before = wrong.to_string();
    const NamedArrays arrays = wrong.state_dict();
    EXPECT_THAT(message<TreeError>([&] { load_module(path, wrong); }),
                HasSubstr("is of a module with other parts or options"));
    EXPECT_EQ(wrong.to_string(), before);
    EXPECT_TRUE(tree::equal(wrong.state_dict(), arrays));
    save_checkpoint(path, net.state_dict());
    EXPECT_THROW(load_module(path, net), TreeError);
    std::filesystem::remove(path);
  }
  Sized net(8, 0.25f, 2);
  EXPECT_THROW(load_module(folder + "not_there.safetensors", net), IoError);
}

TEST(ModuleFile, SaysWhichPresetItsLayersBeganWith) {
  const std::string folder = testing::TempDir();
  for (const char* ending : {"safetensors", "npz"}) {
    const std::string path = folder + "module_preset_test." + ending;
    struct Begun : Module {
      explicit Begun(const init::LayerInit& init) {
        fc = register_module("fc", Linear::init(Key(0), 3, 2, {.init = init}));
      }
      Array forward(const Array& x) override { return fc(x); }
      Stateful<Linear> fc;
    };
    const Begun net(init::flax_v1);
    Begun other(init::torch_v1);
    for (const init::LayerInit* preset : {&init::flax_v1, &init::keras_v1, &init::torch_v1}) {
      save_module(path, net, {.init = *preset});
      EXPECT_EQ(load_module(path, other).init, preset->name);
      EXPECT_TRUE(tree::equal(other.state_dict(), net.state_dict()));
    }
    save_module(path, net);
    EXPECT_EQ(load_module(path, other).init, "");
    EXPECT_THAT(message<ValueError>(
                    [&] { save_module(path, net, {.init = {.weight = init::orthogonal()}}); }),
                HasSubstr("init has no name"));
    EXPECT_EQ(load_module(path, other).init, "");  // the old file
    std::filesystem::remove(path);
  }
}

TEST(ModuleFile, NumbersStayWeak) {
  struct Scaled : Module {
    explicit Scaled(const Array& by) { register_buffer("by", by); }
    Array forward(const Array& x) override { return x * get_buffer("by"); }
  };
  for (const char* format : {"safetensors", "npz"}) {
    const std::string path = testing::TempDir() + "module_file_numbers." + format;
    Scaled net(0.1), other(0.5), copied(0.5);
    save_module(path, net);
    load_module(path, other);
    copied.load_state_dict(net.state_dict());
    for (Scaled* loaded : {&other, &copied}) {
      EXPECT_EQ((*loaded)(ones({1}, bfloat16)).dtype(), bfloat16);
      EXPECT_EQ(loaded->get_buffer("by").item<double>(), 0.1);
    }
    std::filesystem::remove(path);
  }
}

TEST(ModuleFile, OfOtherClassesIsRefused) {
  struct A : Module {
    A() { register_module("x", Dropout{0.5f}); }
    Array forward(const Array& x) override { return x; }
  } a;
  struct B : Module {
    B() { register_module("x", AlphaDropout{0.5f}); }
    Array forward(const Array& x) override { return x; }
  } b;
  const std::string path = testing::TempDir() + "module_file_classes.safetensors";
  save_module(path, a);
  EXPECT_THAT(message<TreeError>([&] { load_module(path, b); }),
              HasSubstr("x.(class) is Dropout in the file and AlphaDropout in the module"));
  std::filesystem::remove(path);
}

TEST(ModuleEmpty, ArraysAreMadeAnew) {
  Net net = eval_shape([] { return Net(Key(0)); });
  net.to_empty(zeros({1}).device());
  EXPECT_TRUE(array_equal(net.get_parameter("out.weight"), zeros({2, 8})));
  Net trained(Key(1));
  net.load_state_dict(trained.state_dict());
  net.eval();
  trained.eval();
  EXPECT_TRUE(array_equal(net(ones({2, 4})), trained(ones({2, 4}))));
}

}  // namespace module_containers_test
}  // namespace spruce::nn
