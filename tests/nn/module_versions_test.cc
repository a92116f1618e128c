// SPDX-License-Identifier: Apache-2.0
// What a module has in its state beside arrays: versions, extra state; and its options in print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace module_versions_test {

using ::testing::HasSubstr;

// Version 1 had one array "table" f32[2, n], its parts are "a" and "b" now.
struct Pair : Module {
  explicit Pair(int64_t n) : width(n) {
    register_parameter("a", zeros({n}));
    register_parameter("b", zeros({n}));
  }
  Array forward(const Array& x) override { return x * parameter("a") + parameter("b"); }
  std::string extra_repr() const override { return "width=" + std::to_string(width); }
  int64_t state_version() const override { return 2; }
  NamedArrays upgrade_state(const NamedArrays& state, int64_t from) const override {
    EXPECT_EQ(from, 1);
    NamedArrays out = state;
    out.erase("table");
    out.insert("a", state.at("table")[0]);
    out.insert("b", state.at("table")[1]);
    return out;
  }
  int64_t width;
};

// Counts its calls, which no array does.
struct Counted : Module {
  Counted() {
    pair = register_module("pair", std::make_shared<Pair>(2));
    out = register_module("out", Linear::init(Key(0), 2, 1));
  }
  Array forward(const Array& x) override {
    ++calls;
    return out((*pair)(x));
  }
  Array get_extra_state() const override { return array(calls); }
  void set_extra_state(const Array& state) override { calls = state.item<int64_t>(); }

  std::shared_ptr<Pair> pair;
  Stateful<Linear> out;
  int64_t calls = 0;
};

TEST(ModuleVersions, ExtraStateGoesAlong) {
  Counted net, other;
  for (int i = 0; i < 3; ++i) net(ones({1, 2}));
  const NamedArrays state = net.state_dict({.prefix = "net."});
  EXPECT_EQ(state.at("net._extra_state").item<int64_t>(), 3);
  EXPECT_EQ(state.at("net.pair._version").item<int64_t>(), 2);
  EXPECT_FALSE(state.contains("net._version"));
  other.load_state_dict(state, {.prefix = "net."});
  EXPECT_EQ(other.calls, 3);

  NamedArrays without = net.state_dict();
  without.erase("_extra_state");
  EXPECT_THAT(message([&] { return other.load_state_dict(without); }, "\n  load"),
              HasSubstr("\n  missing: _extra_state"));
  EXPECT_EQ(other.load_state_dict(without, {.strict = false}).missing,
            (std::vector<std::string>{"_extra_state"}));
  EXPECT_EQ(other.calls, 3);
}

TEST(ModuleVersions, ExtraStateIsTakenOverOnlyWithAllElse) {
  Counted net, other;
  net(ones({1, 2}));
  NamedArrays state = net.state_dict();
  state.insert("unknown", ones({1}));
  EXPECT_THROW(other.load_state_dict(state), TreeError);
  EXPECT_EQ(other.calls, 0);
}

TEST(ModuleVersions, AnEarlierVersionIsUpgraded) {
  Counted net;
  NamedArrays old = net.state_dict();
  for (const char* name : {"pair.a", "pair.b", "pair._version"}) old.erase(name);
  old.insert("pair.table", array({{1.0f, 2.0f}, {3.0f, 4.0f}}));
  net.load_state_dict(old);
  EXPECT_EQ(net.get_parameter("pair.a").to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(net.get_parameter("pair.b").to_vector<float>(), (std::vector<float>{3, 4}));
  Counted again;
  again.load_state_dict(net.state_dict());  // of this version: not upgraded
  EXPECT_EQ(again.get_parameter("pair.b").to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST(ModuleVersions, ALaterVersionIsRefused) {
  Counted net;
  NamedArrays state = net.state_dict();
  state["pair._version"] = array(int64_t{3});
  EXPECT_EQ(message([&] { return net.load_state_dict(state); }),
            "load_state_dict: pair._version is 3, and the module knows versions up to 2; load it "
            "with a newer program");
  state["pair._version"] = ones({2});
  EXPECT_EQ(message([&] { return net.load_state_dict(state); }),
            "load_state_dict: pair._version is f32[2]; a version is one whole number");
}

TEST(ModuleVersions, OptionsArePrinted) {
  EXPECT_EQ(Pair(5).to_string(), "Pair(width=5)");
  struct Outer : Counted {
    std::string extra_repr() const override { return "mode='fast'"; }
  };
  EXPECT_EQ(Outer().to_string(),
            "Outer(\n  mode='fast'\n  (pair): Pair(width=2)\n  (out): Linear(in_features=2, "
            "out_features=1, bias=true)\n)");
}

}  // namespace module_versions_test
}  // namespace spruce::nn
