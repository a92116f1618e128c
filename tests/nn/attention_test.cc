// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/attention.h"

#include <limits>

#include "tests/nn/torch_cases.h"

namespace torch_cases {
namespace attention_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The masks of attention() in make_torch_cases.py.
Array mask_named(const std::string& name) {
  if (name == "bool") return sp::array({{1, 0, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 1}}) > 0;
  if (name == "float") return wave({2, 1, 4, 3}, 0.7);
  if (name == "infinite") {
    return sp::array({{0.0, -kInfinity, 1.0},
                      {-kInfinity, -kInfinity, -kInfinity},
                      {0.0, 0.0, 0.0},
                      {1.0, 2.0, 3.0}},
                     sp::float64);
  }
  return {};
}

TEST(Attention, AsPyTorch) {
  check("attention", 10, [](const Array& x, const Options& o) {
    const std::vector<Array> parts = sp::split(x, {4, 7}, -2);
    nn::AttentionOptions options{.attn_mask = mask_named(o.text("mask")),
                                 .is_causal = o.text("mask") == "causal"};
    if (o.has("scale")) options.scale = o.number("scale");
    if (options.attn_mask.defined() && options.attn_mask.dtype() != sp::bool_)
      options.attn_mask = options.attn_mask.astype(x.dtype());
    return nn::scaled_dot_product_attention(parts[0], parts[1], parts[2], options);
  });
}

TEST(Attention, LeadingAxesBroadcast) {
  const Array q = sp::random::normal(sp::Key(0), {2, 3, 4, 5});
  const Array k = sp::random::normal(sp::Key(1), {3, 6, 5}),
              v = sp::random::normal(sp::Key(2), {6, 2});
  const Array y = nn::scaled_dot_product_attention(q, k, v);
  EXPECT_EQ(y.shape(), (sp::Shape{2, 3, 4, 2}));
  EXPECT_TRUE(sp::allclose(y[1][2], nn::scaled_dot_product_attention(q[1][2], k[2], v)));
}

TEST(Attention, MapsOverExamples) {
  const auto f = [](const Array& q, const Array& k, const Array& v) {
    return nn::scaled_dot_product_attention(q, k, v, {.is_causal = true});
  };
  const Array x = sp::random::normal(sp::Key(3), {4, 3, 2});
  EXPECT_TRUE(sp::allclose(sp::vmap(f)(x, x, x), f(x, x, x)));
}

TEST(Attention, DropoutDropsWeights) {
  const Array q = sp::ones({1, 64, 2}), v = sp::ones({1, 64, 1});
  const Array y =
      nn::scaled_dot_product_attention(q, q, v, {.dropout_p = 0.5f, .dropout_key = sp::Key(0)});
  EXPECT_NEAR(sp::mean(y).item<float>(), 1.0f, 0.05f);
  EXPECT_GT(sp::std(y).item<float>(), 0.05f);
}

TEST(Attention, NoKeysGiveZeros) {
  const Array y =
      nn::scaled_dot_product_attention(sp::ones({2, 3}), sp::ones({0, 3}), sp::ones({0, 4}));
  EXPECT_TRUE(sp::array_equal(y, sp::zeros({2, 4})));
}

TEST(Attention, BadInput) {
  const Array q = sp::ones({4, 3});
  const auto sdpa = [](const Array& q, const Array& k, const Array& v,
                       const nn::AttentionOptions& o = {}) {
    return nn::scaled_dot_product_attention(q, k, v, o);
  };
  EXPECT_THROW(sdpa(q, sp::ones({4, 2}), q), sp::ShapeError);
  EXPECT_THROW(sdpa(q, q, sp::ones({5, 3})), sp::ShapeError);
  EXPECT_THROW(sdpa(sp::ones({3}), q, q), sp::ShapeError);
  EXPECT_THROW(sdpa(q, q, q, {.attn_mask = sp::ones({3, 4})}), sp::ShapeError);
  EXPECT_THROW(sdpa(q, q, q, {.attn_mask = sp::array({1, 2, 3, 4})}), sp::DtypeError);
  EXPECT_THROW(sdpa(q, q, q, {.attn_mask = sp::ones({4, 4}), .is_causal = true}), sp::ValueError);
  EXPECT_THROW(sdpa(q, q, q, {.dropout_p = 0.5f}), sp::ValueError);
}

nn::MultiheadAttention torch_multihead(bool bias, bool batch_first, sp::Dtype dtype = sp::float64) {
  nn::MultiheadAttention layer = nn::MultiheadAttention::init(
      sp::Key(0), 6, 3, {.bias = bias, .batch_first = batch_first, .dtype = dtype});
  double step = 0.31;
  return sp::tree::map(
      [&](const Array& a) { return (wave(a.shape(), step++) / 10.0).astype(dtype); }, layer);
}

TEST(MultiheadAttention, AsPyTorch) {
  const Array padding = sp::array({{0, 0, 1, 0}, {1, 0, 0, 1}}) > 0;
  check("multihead", 20, [&](const Array& x, const Options& o) {
    const std::string mask = o.text("mask");
    nn::MultiheadMasks masks;
    if (mask == "padding" || mask == "both") masks.key_padding_mask = padding;
    if (mask == "attn") masks.attn_mask = wave({3, 4}, 0.7).astype(x.dtype());
    if (mask == "heads") masks.attn_mask = wave({6, 3, 4}, 0.7).astype(x.dtype());
    if (mask == "both") masks.attn_mask = sp::triu(sp::ones({3, 4}), 2) > 0.0f;
    const std::vector<Array> parts = sp::split(x, {3}, o.flag("first") ? 1 : 0);
    return torch_multihead(o.flag("bias"), o.flag("first"), x.dtype())(parts[0], parts[1],
                                                                       2.0 * parts[1], masks);
  });
}

TEST(MultiheadAttention, UnbatchedAndCausal) {
  const nn::MultiheadAttention layer = torch_multihead(true, false);
  const Array x = sp::random::normal(sp::Key(1), {5, 6}, {.dtype = sp::float64});
  const Array later = sp::triu(sp::ones({5, 5}), 1) > 0.0f;
  const Array y = layer(x, x, x, {.is_causal = true});
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_TRUE(sp::allclose(y, layer(x, x, x, {.attn_mask = later})));
  const Array padding = sp::array({0, 0, 0, 0, 1}) > 0;
  EXPECT_TRUE(sp::allclose(layer(x, x, x, {.key_padding_mask = padding, .is_causal = true}),
                           layer(x, x, x, {.key_padding_mask = padding, .attn_mask = later})));
}

TEST(MultiheadAttention, InitialValues) {
  const auto layer = nn::MultiheadAttention::init(sp::Key(0), 32, 4);
  const double bound = std::sqrt(6.0 / (32 + 96));
  EXPECT_LE(sp::max(sp::abs(layer.in_proj_weight)).item<double>(), bound);
  EXPECT_GT(sp::max(sp::abs(layer.in_proj_weight)).item<double>(), 0.98 * bound);
  EXPECT_TRUE(sp::array_equal(*layer.in_proj_bias, sp::zeros({96})));
  EXPECT_TRUE(sp::array_equal(*layer.out_proj.bias, sp::zeros({32})));
  EXPECT_FALSE(nn::MultiheadAttention::init(sp::Key(0), 4, 2, {.bias = false}).in_proj_bias);
  EXPECT_THROW(nn::MultiheadAttention::init(sp::Key(0), 6, 4), sp::ValueError);
}

TEST(MultiheadAttention, DropoutOnlyInTraining) {
  const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2, {.dropout = 0.5f});
  const Array x = sp::random::normal(sp::Key(1), {6, 1, 8});
  nn::Context evaluation, training{.training = true, .key = sp::Key(2)};
  EXPECT_TRUE(sp::array_equal(layer(x, x, x, evaluation), layer(x, x, x)));
  EXPECT_FALSE(sp::allclose(layer(x, x, x, training), layer(x, x, x)));
}

TEST(MultiheadAttention, BadInput) {
  const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2);
  const Array x = sp::ones({6, 3, 8});
  EXPECT_THROW(layer(sp::ones({6, 3, 7}), x, x), sp::ShapeError);
  EXPECT_THROW(layer(x, sp::ones({6, 8}), x), sp::ShapeError);
  EXPECT_THROW(layer(x, x, x, {.key_padding_mask = sp::ones({6, 3})}), sp::ShapeError);
  EXPECT_THROW(layer(x, x, x, {.attn_mask = sp::ones({6, 5})}), sp::ShapeError);
  EXPECT_THROW(nn::MultiheadAttention::init(sp::Key(0), 8, 2, {.dropout = 2}), sp::ValueError);
}

TEST(MultiheadAttention, RefusesMasksOfIntegers) {
  const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2);
  const Array x = sp::ones({6, 3, 8}), attn = sp::tri(6), padding = sp::ones({3, 6});
  EXPECT_NO_THROW(layer(x, x, x, {.key_padding_mask = padding, .attn_mask = attn}));
  EXPECT_THROW(layer(x, x, x, {.attn_mask = attn.astype(sp::int32)}), sp::DtypeError);
  EXPECT_THROW(layer(x, x, x, {.key_padding_mask = padding.astype(sp::int32)}), sp::DtypeError);
}

}  // namespace attention_test
}  // namespace torch_cases
