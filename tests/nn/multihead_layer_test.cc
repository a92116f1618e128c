// SPDX-License-Identifier: Apache-2.0
// MultiheadAttention with sizes of its own for keys and values, more keys, weights, fewer heads of
// keys and values, and a cache. What it does by default is in attention_test.cc as well.
#include "spruce/nn/attention.h"
#include "spruce/nn/position.h"
#include "tests/nn/functional_cases.h"
#include "tests/nn/layer_masks.h"

namespace functional_cases {
namespace multihead_layer_test {

Array result_of(const nn::MultiheadAttention& layer, const Inputs& in, const std::string& weights,
                const nn::MultiheadMasks& masks) {
  if (weights == "no") return sp::ravel(layer(in[0], in[1], in[2], masks));
  const auto r = layer.with_weights(in[0], in[1], in[2], masks, weights == "mean");
  return joined({r.output, r.weights});
}

TEST(MultiheadAttention, AllOptionsAsPyTorch) {
  check("multihead_layer", 126, [](const Inputs& in, const Options& o) {
    const auto layer = nn::MultiheadAttention::init(sp::Key(0), 4, 2,
                                                    {.bias = o.flag("bias"),
                                                     .batch_first = o.flag("first"),
                                                     .kdim = o.integer("kdim"),
                                                     .vdim = o.integer("vdim"),
                                                     .add_bias_kv = o.flag("kv"),
                                                     .add_zero_attn = o.flag("zero")});
    return result_of(filled(layer, in, 3), in, o.text("weights"),
                     masks_of(o.text("mask"), 3, 4, 2));
  });
  check("multihead_single", 3, [](const Inputs& in, const Options& o) {
    const auto layer = nn::MultiheadAttention::init(sp::Key(0), 4, 2, {.add_bias_kv = true});
    return result_of(filled(layer, in, 3), in, o.text("weights"),
                     {.key_padding_mask = padding()[0]});
  });
}

TEST(Attention, FewerHeadsOfKeysAsPyTorch) {
  check("grouped_attention", 5, [](const Inputs& in, const Options& o) {
    const std::string& mask = o.text("mask");
    const int64_t t = in[0].shape(-2), s = in[1].shape(-2);
    nn::AttentionOptions options{.is_causal = mask == "causal", .enable_gqa = true};
    if (mask == "bool") options.attn_mask = sp::tri(t, {.columns = s, .dtype = sp::bool_});
    if (mask == "float") options.attn_mask = torch_cases::wave({t, s}, 0.7).astype(in[0].dtype());
    if (mask == "heads")
      options.attn_mask = torch_cases::wave({2, 4, t, s}, 0.7).astype(in[0].dtype());
    return nn::scaled_dot_product_attention(in[0], in[1], in[2], options);
  });
}

// With fewer heads of keys the layer is one with all heads, where heads have equal rows.
TEST(MultiheadAttention, FewerHeadsOfKeys) {
  const auto few = nn::MultiheadAttention::init(
      sp::Key(0), 12, 4, {.batch_first = true, .dtype = sp::float64, .num_kv_heads = 2});
  EXPECT_EQ(few.in_proj_weight.shape(), (sp::Shape{24, 12}));
  EXPECT_EQ(few.in_proj_bias->shape(), (sp::Shape{24}));
  const auto spread = [](const Array& rows) {  // [12, ...] for two heads each of key and value
    sp::Shape parts{4, 3}, all{24};
    for (int i = 1; i < rows.rank(); ++i)
      parts.push_back(rows.shape(i)), all.push_back(rows.shape(i));
    return sp::reshape(sp::repeat(sp::reshape(rows, parts), 2, 0), all);
  };
  auto all = few;
  all.num_kv_heads = 0;
  const std::vector<Array> w = sp::split(few.in_proj_weight, 2);
  all.in_proj_weight = sp::concatenate({w[0], spread(w[1])});
  const Array bias = sp::random::normal(sp::Key(3), {24}, {.dtype = sp::float64});
  auto biased = few;
  biased.in_proj_bias = bias;
  const std::vector<Array> b = sp::split(bias, 2);
  all.in_proj_bias = sp::concatenate({b[0], spread(b[1])});
  const Array x = sp::random::normal(sp::Key(1), {2, 5, 12}, {.dtype = sp::float64});
  EXPECT_TRUE(sp::allclose(biased(x, x, x), all(x, x, x)));
  const auto r = biased.with_weights(x, x, x, {.is_causal = true}, false);
  EXPECT_TRUE(sp::allclose(r.output, all(x, x, x, {.is_causal = true})));
  EXPECT_EQ(r.weights.shape(), (sp::Shape{2, 4, 5, 5}));
}

TEST(MultiheadAttention, DecodesWithACacheAsTheWholeSequence) {
  for (const int64_t kv_heads : {0, 1}) {
    for (const bool first : {false, true}) {
      const auto layer = nn::MultiheadAttention::init(
          sp::Key(0), 8, 2, {.batch_first = first, .dtype = sp::float64, .num_kv_heads = kv_heads});
      const sp::Shape shape = first ? sp::Shape{3, 7, 8} : sp::Shape{7, 3, 8};
      const Array x = sp::random::normal(sp::Key(1), shape, {.dtype = sp::float64});
      const Array whole = layer(x, x, x, {.is_causal = true});
      const int axis = first ? 1 : 0;
      nn::KeyValueCache cache = layer.init_cache(3, 9);
      std::vector<Array> rows;
      const auto step =
          sp::jit([](const nn::MultiheadAttention& l, const Array& x, const nn::KeyValueCache& c) {
            nn::DecodeResult r = l.decode(x, c);
            return std::pair{r.output, r.cache};
          });
      const std::vector<Array> steps = sp::split(x, std::vector<int64_t>{4, 5, 6}, axis);
      for (const Array& part : steps) {  // a prompt of four steps, then one at a time
        const nn::DecodeResult eager = layer.decode(part, cache);
        auto [y, next] = step(layer, part, cache);
        EXPECT_TRUE(sp::allclose(y, eager.output));
        rows.push_back(y);
        cache = next;
      }
      EXPECT_EQ(cache.length.item<int32_t>(), 7);
      EXPECT_TRUE(sp::allclose(sp::concatenate(rows, axis), whole));
    }
  }
}

TEST(MultiheadAttention, AFullCache) {
  const auto layer = nn::MultiheadAttention::init(sp::Key(0), 4, 2);
  const Array x = sp::ones({2, 1, 4});
  const auto full = layer.decode(x, layer.init_cache(1, 2)).cache;
  expect_error<sp::ValueError>([&] { layer.decode(x, full); },
                               "MultiheadAttention::decode: there is no room for 2 more steps in a "
                               "cache for 2 that holds");
  const auto step = sp::jit([&](const nn::KeyValueCache& c) {
    return layer.decode(sp::ones({1, 1, 4}), c).output;
  });
  EXPECT_TRUE(sp::all(sp::isnan(step(full))).item<bool>());
  EXPECT_FALSE(sp::any(sp::isnan(step(layer.init_cache(1, 2)))).item<bool>());
}

TEST(MultiheadAttention, WeightsAreThoseAfterDropout) {
  const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2, {.dropout = 0.5f});
  const Array x = sp::random::normal(sp::Key(1), {6, 1, 8});
  nn::Context training{.training = true, .key = sp::Key(2)}, again = training;
  const auto r = layer.with_weights(x, x, x, training, {}, false);
  EXPECT_TRUE(sp::allclose(r.output, layer(x, x, x, again)));
  const Array zero = sp::sum(sp::equal(r.weights, 0).astype(sp::int32));
  EXPECT_GT(zero.item<int32_t>(), 10);
}

TEST(MultiheadAttention, MessagesOfBadInput) {
  using sp::ShapeError, sp::ValueError;
  expect_error<ValueError>(
      [] { nn::MultiheadAttention{}.init_cache(1, 2); },
      "MultiheadAttention::init_cache: this Array is empty, the argument in_proj_weight");
  auto odd = nn::MultiheadAttention::init(sp::Key(0), 8, 4);
  odd.num_heads = 0;
  const Array y = sp::ones({3, 8});
  expect_error<ValueError>([&] { odd(y, y, y); }, "MultiheadAttention: num_heads is 0, it must");
  const auto init = [](const nn::MultiheadAttentionOptions& o) {
    return nn::MultiheadAttention::init(sp::Key(0), 8, 4, o);
  };
  expect_error<ValueError>(
      [&] { init({.num_kv_heads = 3}); },
      "MultiheadAttention: num_kv_heads is 3, it must divide num_heads, which is 4");
  expect_error<ValueError>([&] { init({.kdim = -1}); },
                           "MultiheadAttention: kdim is -1 and vdim 0, they must not be negative");
  const Array x = sp::ones({3, 2, 8});
  expect_error<ShapeError>([&] { init({.kdim = 5})(x, x, x); },
                           "must be f[t, n, 8], f[t, n, 5] and f[t, n, 8], or f[t, 8], f[t, 5] and "
                           "f[t, 8]");
  const auto layer = init({});
  expect_error<ShapeError>([&] { layer.decode(x, init({.num_kv_heads = 2}).init_cache(2, 4)); },
                           "MultiheadAttention::decode: the cache, key f32[2,2,4,2], value "
                           "f32[2,2,4,2] and length i32[], is not of this layer and batch: they "
                           "must be f[2,4,4,2] both and i[]; make it with init_cache(2, capacity)");
  expect_error<ShapeError>(
      [&] {
        layer.decode(sp::ones({3, 8}), layer.init_cache(2, 4));
      },
      "MultiheadAttention::decode: takes self-attention of f[t, n, 8], got "
      "query f32[3,8]");
  const auto more = init({.add_bias_kv = true});
  expect_error<ValueError>([&] { more.decode(x, more.init_cache(2, 4)); },
                           "MultiheadAttention::decode: takes no layer with bias_k");
  expect_error<ShapeError>(
      [&] {
        nn::scaled_dot_product_attention(sp::ones({3, 2, 4}), sp::ones({2, 2, 4}),
                                         sp::ones({2, 2, 4}), {.enable_gqa = true});
      },
      "scaled_dot_product_attention: query f32[3,2,4], key f32[2,2,4] and value f32[2,2,4] do not "
      "fit for enable_gqa: key and value must have as many heads");
}

}  // namespace multihead_layer_test
}  // namespace functional_cases
