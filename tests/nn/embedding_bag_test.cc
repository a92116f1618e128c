// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/embedding_bag.h"

#include "spruce/nn/bilinear.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace embedding_bag_test {

Array rows() { return sp::array({{1, 4, 1}, {0, 2, 3}}); }
Array flat() { return sp::array({1, 4, 1, 0, 2, 3, 3}); }
Array offsets() { return sp::array({0, 2, 2, 5}); }

TEST(Embedding, ARowOfPaddingHasNoGradient) {
  check("embedding", 3, [](const Inputs& in, const Options& o) {
    return nn::embedding(rows(), in[0], {.padding_idx = o.integer("padding")});
  });
  const auto layer = nn::Embedding::init(sp::Key(0), 5, 3, {.padding_idx = -1});
  EXPECT_EQ(layer.weight[4].to_vector<float>(), (std::vector<float>{0, 0, 0}));
  const auto g = sp::grad([](const nn::Embedding& e) {
    return sp::sum(e(sp::array({4, 0})));
  })(layer);
  EXPECT_EQ(sp::sum(g.weight, 1).to_vector<float>(), (std::vector<float>{3, 0, 0, 0, 0}));
  EXPECT_THROW(nn::embedding(rows(), layer.weight, {.padding_idx = 5}), sp::IndexError);
  EXPECT_THROW(nn::Embedding::init(sp::Key(0), 5, 3, {.padding_idx = -6}), sp::IndexError);
}

TEST(EmbeddingBag, AsPyTorch) {
  check("embedding_bag", 31, [](const Inputs& in, const Options& o) {
    const std::string &mode = o.text("mode"), &form = o.text("form");
    nn::EmbeddingBagOptions options{.mode = mode == "sum"   ? nn::BagMode::kSum
                                            : mode == "max" ? nn::BagMode::kMax
                                                            : nn::BagMode::kMean};
    if (o.has("padding")) options.padding_idx = o.integer("padding");
    const Array weights = in.size() > 1 ? in[1] : Array();
    if (form == "rows") return nn::embedding_bag(rows(), in[0], {}, weights, options);
    if (form == "offsets") return nn::embedding_bag(flat(), in[0], offsets(), weights, options);
    options.include_last_offset = true;
    return nn::embedding_bag(flat(), in[0], sp::array({0, 2, 2, 5, 7}), weights, options);
  });
}

// The indices and the offsets may be unknown, and differ from example to example.
TEST(EmbeddingBag, CompiledOverItsIndices) {
  const Array w = torch_cases::wave({5, 3}, 0.7), scale = torch_cases::wave({7}, 0.3);
  const Array many = sp::stack({flat(), sp::flip(flat())});
  const Array starts = sp::stack({offsets(), sp::array({0, 0, 1, 7})});
  for (const nn::BagMode mode : {nn::BagMode::kMean, nn::BagMode::kSum, nn::BagMode::kMax}) {
    for (const std::optional<int64_t> padding : {std::optional<int64_t>(), {1}}) {
      const auto f = [&](const Array& w, const Array& i, const Array& o) {
        return nn::embedding_bag(i, w, o, mode == nn::BagMode::kSum ? scale : Array(),
                                 {.mode = mode, .padding_idx = padding});
      };
      const auto g = sp::grad([&](const Array& w, const Array& i, const Array& o) {
        return sp::sum(sp::square(f(w, i, o)));
      });
      EXPECT_TRUE(sp::allclose(sp::jit(f)(w, flat(), offsets()), f(w, flat(), offsets())));
      EXPECT_TRUE(sp::allclose(sp::jit(g)(w, flat(), offsets()), g(w, flat(), offsets())));
      const Array each =
          sp::vmap([&](const Array& i, const Array& o) { return f(w, i, o); })(many, starts);
      for (int k = 0; k < 2; ++k) EXPECT_TRUE(sp::allclose(each[k], f(w, many[k], starts[k])));
    }
  }
}

// Rows in front of the first bag and offsets behind the last row are errors where they are known.
TEST(EmbeddingBag, UnknownOffsetsOfNoRow) {
  const Array w = torch_cases::wave({5, 3}, 0.7);
  const auto f =
      sp::jit([&](const Array& i, const Array& o) { return nn::embedding_bag(i, w, o); });
  const Array y = f(sp::array({1, 2, 3}), sp::array({1, 2, 9}));
  EXPECT_TRUE(sp::array_equal(y, sp::stack({w[2], w[3], sp::zeros({3})})));
}

TEST(EmbeddingBag, LayerAndBadInput) {
  const auto layer =
      nn::EmbeddingBag::init(sp::Key(0), 5, 3, {.mode = nn::BagMode::kSum, .padding_idx = 2});
  EXPECT_EQ(sp::sum(sp::abs(layer.weight[2])).item<float>(), 0);
  EXPECT_TRUE(sp::array_equal(layer(rows()),
                              nn::embedding_bag(rows(), layer.weight, {}, {},
                                                {.mode = nn::BagMode::kSum, .padding_idx = 2})));
  const Array w = sp::ones({5, 3});
  EXPECT_THROW(nn::embedding_bag(flat(), w), sp::ShapeError);
  EXPECT_THROW(nn::embedding_bag(rows(), w, offsets()), sp::ShapeError);
  EXPECT_THROW(nn::embedding_bag(flat(), w, sp::array({1, 2})), sp::ValueError);
  EXPECT_THROW(nn::embedding_bag(flat(), w, sp::array({0, 3, 2})), sp::ValueError);
  EXPECT_THROW(nn::embedding_bag(flat(), w, sp::array({0, 8})), sp::ValueError);
  EXPECT_THROW(nn::embedding_bag(flat(), w, sp::array({0.0f})), sp::DtypeError);
  EXPECT_THROW(nn::embedding_bag(rows(), w, {}, sp::ones({2, 3})), sp::ValueError);
  EXPECT_THROW(nn::embedding_bag(rows(), w, {}, sp::ones({3}), {.mode = nn::BagMode::kSum}),
               sp::ShapeError);
  EXPECT_THROW(nn::embedding_bag(rows(), w, {}, {}, {.padding_idx = 7}), sp::IndexError);
  EXPECT_THROW(nn::embedding_bag(rows() + 3, w), sp::IndexError);
}

TEST(Bilinear, AsPyTorch) {
  check("bilinear", 3, [](const Inputs& in, const Options&) {
    return nn::bilinear(in[0], in[1], in[2], in.size() > 3 ? in[3] : Array());
  });
  const auto layer = nn::Bilinear::init(sp::Key(0), 4, 3, 2);
  EXPECT_EQ(layer.weight.shape(), (sp::Shape{2, 4, 3}));
  EXPECT_LE(sp::max(sp::abs(layer.weight)).item<float>(), 0.5f);
  const Array a = sp::ones({5, 4}), b = sp::ones({5, 3});
  EXPECT_TRUE(sp::array_equal(layer(a, b), nn::bilinear(a, b, layer.weight, *layer.bias)));
  EXPECT_THROW(layer(b, a), sp::ShapeError);
  EXPECT_THROW(layer(a, sp::ones({4, 3})), sp::ShapeError);
  EXPECT_THROW(nn::bilinear(a, b, layer.weight, sp::ones({3})), sp::ShapeError);
}

}  // namespace embedding_bag_test
}  // namespace functional_cases
