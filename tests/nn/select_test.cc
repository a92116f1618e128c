// SPDX-License-Identifier: Apache-2.0
// Selections of arrays: by patterns of paths and by types of layers.
#include "spruce/nn/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nn/nets.h"

namespace spruce::nn {
namespace select_test {

using ::testing::ElementsAre;

TEST(Select, PatternsMatchComponents) {
  EXPECT_TRUE(matching("blocks.*.norm")("blocks.0.norm.weight"));
  EXPECT_TRUE(matching("blocks.*.norm")("blocks.12.norm"));
  EXPECT_FALSE(matching("blocks.*.norm")("blocks.0.fc.weight"));
  EXPECT_FALSE(matching("blocks.*.norm")("blocks.0.norm2.weight"));
  EXPECT_TRUE(matching("blocks.*.norm*")("blocks.0.norm2.weight"));
  EXPECT_TRUE(matching("**.bias")("a.b.bias"));
  EXPECT_TRUE(matching("**.bias")("bias"));
  EXPECT_FALSE(matching("**.bias")("a.b.weight"));
  EXPECT_TRUE(matching("a.**.bias")("a.bias"));
  EXPECT_TRUE(matching("*")("anything.at.all"));
  EXPECT_FALSE(matching("a.b.c")("a.b"));
  EXPECT_TRUE((matching("a") || matching("b"))("b.c"));
  EXPECT_FALSE((!matching("a"))("a.c"));
  EXPECT_TRUE((!(matching("a") || matching("b")))("c"));
  EXPECT_THROW(matching(""), ValueError);
  EXPECT_THROW(!matching("a") || matching("b"), ValueError);
}

struct Layers {
  Linear in;
  std::vector<LayerNorm> norms;
  std::map<std::string, std::pair<Linear, LayerNorm>> heads;
  std::optional<LayerNorm> last;
  Array operator()(const Array& x) const { return in(x); }
};

TEST(Select, LayersAreFoundByType) {
  const Linear fc = Linear::init(Key(0), 2, 2);
  const LayerNorm norm = LayerNorm::init({2});
  const Layers model{fc, {norm, norm}, {{"a", {fc, norm}}}, norm};
  const auto chosen = [&](const Selection& s) {
    std::vector<std::string> out;
    for (const auto& e : tree::entries(model))
      if (s(e.path)) out.push_back(e.path);
    return out;
  };
  EXPECT_THAT(chosen(layers_of<Linear>(model)),
              ElementsAre("in.weight", "in.bias", "heads.a.0.weight", "heads.a.0.bias"));
  EXPECT_THAT(chosen(layers_of<LayerNorm>(model)),
              ElementsAre("norms.0.weight", "norms.0.bias", "norms.1.weight", "norms.1.bias",
                          "heads.a.1.weight", "heads.a.1.bias", "last.weight", "last.bias"));
  EXPECT_TRUE(chosen(layers_of<Conv2d>(model)).empty());
  EXPECT_EQ(chosen(layers_of<Layers>(model)).size(), tree::entries(model).size());
  // One part is differentiated: the other gets no gradient.
  const auto [norms, rest] = tree::partition(layers_of<LayerNorm>(model), model);
  EXPECT_FALSE(norms.in.weight.defined());
  EXPECT_TRUE(tree::equal(tree::combine(norms, rest), model));
}

TEST(Select, PartsOfModulesAreFrozenByPattern) {
  Net net(Key(0));
  net.requires_grad("**.bias", false);
  EXPECT_THAT(names(net.trainable_parameters()),
              ElementsAre("gain", "block.fc.weight", "block.norm.weight", "out.weight"));
  net.requires_grad("*.norm", false);
  EXPECT_THAT(names(net.trainable_parameters()),
              ElementsAre("gain", "block.fc.weight", "out.weight"));
  EXPECT_THROW(net.requires_grad("*.nor", false), TreeError);
}

}  // namespace select_test
}  // namespace spruce::nn
