// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/capture.h"

#include <sstream>

#include "spruce/nn/summary.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace capture_test {

struct Block {
  nn::Conv2d conv;
  nn::BatchNorm norm;
  nn::Dropout drop{0.5f};
  Array operator()(const Array& x, nn::Context& ctx) const {
    return nn::relu(drop(norm(conv(x), ctx), ctx));
  }
};

struct Net {
  std::vector<Block> blocks;
  nn::AdaptiveAvgPool2d pool{1};
  std::optional<nn::Linear> head;
  Array operator()(const Array& x, nn::Context& ctx) const {
    Array y = x;
    for (const Block& b : blocks) y = b(y, ctx);
    return (*head)(nn::flatten(pool(y)));
  }
  Array operator()(const Array& x) const {
    nn::Context evaluation;
    return (*this)(x, evaluation);
  }
};

Net make_net() {
  Net net;
  for (int64_t i = 0; i < 2; ++i) {
    net.blocks.push_back(
        {nn::Conv2d::init(sp::Key(static_cast<uint64_t>(i)), i == 0 ? 3 : 4, 4, 3, {.padding = 1}),
         nn::BatchNorm::init(4)});
  }
  net.head = nn::Linear::init(sp::Key(9), 4, 5);
  return net;
}

std::vector<std::string> names(const std::map<std::string, std::vector<Array>>& values) {
  std::vector<std::string> out;
  for (const auto& [name, value] : values) out.push_back(name);
  return out;
}

TEST(Capture, OutputsOfLayersByPath) {
  const Net net = make_net();
  const Array x = sp::random::normal(sp::Key(1), {2, 3, 6, 6});
  const auto r = nn::capture(net, x);
  EXPECT_TRUE(sp::array_equal(r.output, net(x)));
  EXPECT_EQ(names(r.values), (std::vector<std::string>{
                                 "blocks.0.conv", "blocks.0.drop", "blocks.0.norm", "blocks.1.conv",
                                 "blocks.1.drop", "blocks.1.norm", "head", "pool"}));
  EXPECT_TRUE(sp::array_equal(r.values.at("head")[0], net(x)));
  const Array conv = net.blocks[0].conv(x);
  EXPECT_TRUE(sp::array_equal(r.values.at("blocks.0.conv")[0], conv));
  EXPECT_TRUE(sp::array_equal(r.values.at("blocks.0.norm")[0], net.blocks[0].norm(conv)));
  EXPECT_EQ(r.values.at("pool")[0].shape(), (sp::Shape{2, 4, 1, 1}));
}

TEST(Capture, InTrainingWithTheContextOfTheCall) {
  const Net net = make_net();
  const Array x = sp::random::normal(sp::Key(1), {2, 3, 6, 6});
  nn::Context ctx{.training = true, .key = sp::Key(2)}, again = ctx;
  const auto r = nn::capture(net, x, ctx);
  EXPECT_TRUE(sp::array_equal(r.output, net(x, again)));
  EXPECT_FALSE(sp::array_equal(r.values.at("blocks.1.drop")[0], r.values.at("blocks.1.norm")[0]));
  EXPECT_EQ(ctx.updates.size(), 6u);
}

TEST(Capture, UnderTransforms) {
  const Net net = make_net();
  const Array x = sp::random::normal(sp::Key(1), {2, 3, 6, 6});
  const auto f = [](const Net& net, const Array& x) { return nn::capture(net, x).values; };
  const auto eager = f(net, x), compiled = sp::jit(f)(net, x);
  ASSERT_EQ(names(eager), names(compiled));
  for (const auto& [name, value] : eager)
    EXPECT_TRUE(sp::allclose(value[0], compiled.at(name)[0], {.atol = 1e-5})) << name;
  // The gradient of what stands in the middle.
  const auto middle = [](const Net& net, const Array& x) {
    return sp::sum(nn::capture(net, x).values.at("blocks.0.conv")[0]);
  };
  const Net g = sp::grad(middle)(net, x);
  EXPECT_TRUE(sp::allclose(*g.blocks[0].conv.bias, sp::full({4}, 72.0f)));
  EXPECT_EQ(sp::max(sp::abs(g.head->weight)).item<float>(), 0);
  const auto each = sp::vmap([&](const Array& x) {
    return nn::capture(net, sp::expand_dims(x, 0)).values.at("head")[0];
  })(x);
  EXPECT_TRUE(sp::allclose(sp::squeeze(each, 1), net(x), {.atol = 1e-5}));
}

struct Twice {
  nn::Linear shared;
  Array operator()(const Array& x) const { return shared(nn::relu(shared(x))); }
};

TEST(Capture, SeveralCallsAndOtherModels) {
  const Twice twice{nn::Linear::init(sp::Key(0), 3, 3)};
  const Array x = sp::random::normal(sp::Key(1), {2, 3});
  const auto r = nn::capture(twice, x);
  ASSERT_EQ(r.values.at("shared").size(), 2u);
  EXPECT_TRUE(sp::array_equal(r.values.at("shared")[0], twice.shared(x)));
  EXPECT_TRUE(sp::array_equal(r.values.at("shared")[1], r.output));
  const auto alone = nn::capture(twice.shared, x);
  EXPECT_TRUE(sp::array_equal(alone.values.at("")[0], alone.output));
  const auto factory = nn::sequential(nn::dense(4), nn::relu, nn::dense(2));
  const auto model = factory(factory.init(sp::Key(0), x));
  EXPECT_EQ(names(nn::capture(model, x).values), (std::vector<std::string>{"0", "2"}));
  // Calls of another model are of no interest.
  const auto other = nn::capture([](const Array& x) { return nn::relu(x); }, x);
  EXPECT_TRUE(other.values.empty());
  const auto gru = nn::GRU::init(sp::Key(0), 3, 2);
  EXPECT_EQ(nn::capture(gru, sp::ones({4, 3})).values.at("")[0].shape(), (sp::Shape{4, 2}));
  const auto encoder = nn::TransformerEncoder::init(sp::Key(0), 4, 2, 2, {.dim_feedforward = 3});
  const auto parts = nn::capture(encoder, sp::ones({3, 4})).values;
  EXPECT_EQ(parts.count("layers.1.self_attn"), 1u);
  EXPECT_EQ(parts.count("layers.0"), 1u);
  EXPECT_EQ(parts.size(), 2u * 7);
}

TEST(Summary, ATable) {
  const Net net = make_net();
  const auto s = nn::summary(net, sp::ones({2, 3, 6, 6}));
  EXPECT_EQ(s.text(),
            R"(layer          type               output        parameters  multiply-adds
blocks.0.conv  Conv2d             f32[2,4,6,6]         112          7,776
blocks.0.norm  BatchNorm          f32[2,4,6,6]           8              0
blocks.0.drop  Dropout            f32[2,4,6,6]           0              0
blocks.1.conv  Conv2d             f32[2,4,6,6]         148         10,368
blocks.1.norm  BatchNorm          f32[2,4,6,6]           8              0
blocks.1.drop  Dropout            f32[2,4,6,6]           0              0
pool           AdaptiveAvgPool2d  f32[2,4,1,1]           0              0
head           Linear             f32[2,5]              25             40
total                                                  301         18,184
buffers: 18
)");
  std::ostringstream out;
  out << s;
  EXPECT_EQ(out.str(), s.text());
  EXPECT_EQ(nn::count(net), 301);
}

TEST(Summary, LeavesTheContextAsItWas) {
  const auto norm = nn::BatchNorm::init(4);
  nn::Context ctx{.training = true};
  nn::summary(norm, sp::ones({8, 4}), ctx.of(norm));
  EXPECT_TRUE(ctx.updates.empty());
  EXPECT_TRUE(sp::tree::equal(ctx.updated(norm), norm));
}

TEST(Summary, LayersInsideOfLayers) {
  const auto layer = nn::TransformerEncoderLayer::init(sp::Key(0), 4, 2,
                                                       {.dim_feedforward = 3, .batch_first = true});
  const auto s = nn::summary(layer, sp::ones({2, 5, 4}));
  ASSERT_EQ(s.layers.size(), 7u);
  EXPECT_EQ(s.layers[0].path, "");
  EXPECT_EQ(s.layers[0].parameters, nn::count(layer));
  EXPECT_EQ(s.layers[1].type, "MultiheadAttention");
  EXPECT_EQ(s.layers[2].path, "self_attn.out_proj");
  // Three projections, scores and their sums; then out_proj, linear1 and linear2.
  EXPECT_EQ(s.layers[1].multiply_adds, 2 * (5 * 4 * 12 + 2 * 5 * 5 * 4));
  EXPECT_EQ(s.multiply_adds, s.layers[1].multiply_adds + 10 * (16 + 12 + 12));
}

// Sizes of the products, by hand.
TEST(Summary, MultiplyAdds) {
  const Array x = sp::ones({2, 4, 6});
  EXPECT_EQ(
      nn::summary(nn::ConvTranspose1d::init(sp::Key(0), 4, 6, 3, {.groups = 2}), x).multiply_adds,
      2 * 6 * 4 * 3 * 3);
  EXPECT_EQ(nn::summary(nn::Conv1d::init(sp::Key(0), 4, 6, 3, {.groups = 2}), x).multiply_adds,
            2 * 4 * 6 * 2 * 3);
  const auto lstm = nn::LSTM::init(sp::Key(0), 6, 5, {.num_layers = 2, .proj_size = 2});
  EXPECT_EQ(nn::summary(lstm, x).multiply_adds, 8 * (20 * 6 + 20 * 2 + 10 + 20 * 2 + 20 * 2 + 10));
  EXPECT_EQ(nn::summary(lstm.cells[0], sp::ones({7, 6})).multiply_adds, 7 * (20 * 6 + 20 * 2 + 10));
  EXPECT_EQ(nn::summary(nn::GRUCell::init(sp::Key(0), 6, 5), sp::ones({7, 6})).multiply_adds,
            7 * 15 * 11);
  nn::Context ctx{.training = true, .key = sp::Key(0)};
  EXPECT_EQ(nn::summary(make_net(), sp::ones({2, 3, 6, 6}), ctx).multiply_adds, 18184);
}

}  // namespace capture_test
}  // namespace functional_cases
