// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/transformer.h"

#include "tests/nn/functional_cases.h"
#include "tests/nn/layer_masks.h"

namespace functional_cases {
namespace transformer_test {

nn::TransformerLayerOptions layer_options(const Options& o) {
  return {.dim_feedforward = 3,
          .dropout = 0,
          .activation = o.text("activation") == "gelu" ? nn::TransformerActivation::kGelu
                                                       : nn::TransformerActivation::kRelu,
          .layer_norm_eps = 1e-3,
          .batch_first = o.flag("first"),
          .norm_first = o.flag("norm_first"),
          .bias = o.flag("bias")};
}

nn::EncoderMasks encoder_masks(const std::string& kind) {
  const nn::MultiheadMasks m = masks_of(kind, 3, 3, 2);
  return {m.attn_mask, m.key_padding_mask, m.is_causal};
}

nn::DecoderMasks decoder_masks(const std::string& kind) {
  const nn::MultiheadMasks own = masks_of(kind, 3, 3, 2);
  nn::DecoderMasks m{.tgt_mask = own.attn_mask,
                     .tgt_key_padding_mask = own.key_padding_mask,
                     .tgt_is_causal = own.is_causal};
  if (kind == "padding" || kind == "causal") m.memory_key_padding_mask = padding();
  if (kind == "bool") m.memory_mask = later(3, 4, 2);
  return m;
}

TEST(Transformer, LayersAsPyTorch) {
  check("encoder_layer", 16, [](const Inputs& in, const Options& o) {
    const auto layer = nn::TransformerEncoderLayer::init(sp::Key(0), 4, 2, layer_options(o));
    return filled(layer, in, 1)(in[0], encoder_masks(o.text("mask")));
  });
  check("encoder_layer_single", 1, [](const Inputs& in, const Options&) {
    const auto layer =
        nn::TransformerEncoderLayer::init(sp::Key(0), 4, 2, {.dim_feedforward = 3, .dropout = 0});
    return filled(layer, in, 1)(in[0]);
  });
  check("decoder_layer", 16, [](const Inputs& in, const Options& o) {
    const auto layer = nn::TransformerDecoderLayer::init(sp::Key(0), 4, 2, layer_options(o));
    return filled(layer, in, 2)(in[0], in[1], decoder_masks(o.text("mask")));
  });
}

template <class Stack>
Stack stack_of(const Options& o) {
  Stack stack = Stack::init(sp::Key(0), 4, 2, 2, layer_options(o));
  if (o.flag("norm")) stack.norm = nn::LayerNorm::init({4}, {.eps = 1e-3});
  return stack;
}

TEST(Transformer, StacksAsPyTorch) {
  check("encoder", 32, [](const Inputs& in, const Options& o) {
    return filled(stack_of<nn::TransformerEncoder>(o), in, 1)(in[0], encoder_masks(o.text("mask")));
  });
  check("decoder", 32, [](const Inputs& in, const Options& o) {
    return filled(stack_of<nn::TransformerDecoder>(o), in, 2)(in[0], in[1],
                                                              decoder_masks(o.text("mask")));
  });
}

TEST(Transformer, AsPyTorch) {
  check("transformer", 16, [](const Inputs& in, const Options& o) {
    const auto model = nn::Transformer::init(
        sp::Key(0), 4, 2,
        {.num_encoder_layers = 2, .num_decoder_layers = 1, .layer = layer_options(o)});
    const nn::DecoderMasks d = decoder_masks(o.text("mask"));
    nn::TransformerMasks m{.tgt_mask = d.tgt_mask,
                           .memory_mask = d.memory_mask,
                           .tgt_key_padding_mask = d.tgt_key_padding_mask,
                           .memory_key_padding_mask = d.memory_key_padding_mask,
                           .tgt_is_causal = d.tgt_is_causal};
    if (o.text("mask") == "padding") m.src_key_padding_mask = padding();
    return filled(model, in, 2)(in[0], in[1], m);
  });
}

TEST(Transformer, SquareMask) {
  const Array m = nn::Transformer::generate_square_subsequent_mask(3);
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(m.to_vector<float>(), (std::vector<float>{0, -inf, -inf, 0, 0, -inf, 0, 0, 0}));
}

TEST(Transformer, NamesAndInitialValuesAsPyTorch) {
  const auto model = nn::Transformer::init(
      sp::Key(0), 32, 4,
      {.num_encoder_layers = 2, .num_decoder_layers = 2, .layer = {.dim_feedforward = 64}});
  std::map<std::string, Array> leaves;
  for (const auto& entry : sp::tree::entries(model)) leaves[entry.path] = entry.value;
  EXPECT_EQ(leaves.size(), 2u * 12 + 2u * 18 + 4);
  const Array a = leaves.at("encoder.layers.1.self_attn.out_proj.weight");
  const Array b = leaves.at("encoder.layers.0.self_attn.out_proj.weight");
  const double bound = std::sqrt(6.0 / 64);
  EXPECT_LE(sp::max(sp::abs(a)).item<double>(), bound);
  EXPECT_GT(sp::max(sp::abs(a)).item<double>(), 0.98 * bound);
  EXPECT_FALSE(sp::array_equal(a, b));
  EXPECT_TRUE(sp::array_equal(leaves.at("decoder.norm.weight"), sp::ones({32})));
  const auto plain = nn::TransformerEncoderLayer::init(sp::Key(0), 8, 2);
  EXPECT_EQ(plain.linear1.weight.shape(), (sp::Shape{2048, 8}));
  EXPECT_FLOAT_EQ(plain.dropout, 0.1f);
}

TEST(Transformer, DropsInTrainingOnly) {
  const auto model = nn::Transformer::init(
      sp::Key(0), 8, 2,
      {.num_encoder_layers = 1, .num_decoder_layers = 1, .layer = {.dim_feedforward = 16}});
  const Array x = sp::random::normal(sp::Key(1), {5, 2, 8});
  nn::Context evaluation, training{.training = true, .key = sp::Key(2)};
  EXPECT_TRUE(sp::array_equal(model(x, x, evaluation), model(x, x)));
  EXPECT_FALSE(sp::allclose(model(x, x, training), model(x, x)));
  const auto layer = model.encoder.layers[0];
  const auto model_of_parts = nn::sequential(layer, nn::relu);  // an encoder layer is a part
  const auto m = model_of_parts(model_of_parts.init(sp::Key(0), x));
  EXPECT_TRUE(sp::allclose(m(x), nn::relu(layer(x))));
}

TEST(Transformer, BadInput) {
  using sp::ShapeError, sp::ValueError;
  expect_error<ValueError>([] { nn::TransformerEncoderLayer::init(sp::Key(0), 6, 4); },
                           "num_heads is 4, it must divide embed_dim, which is 6");
  expect_error<ValueError>([] { nn::TransformerEncoder::init(sp::Key(0), 8, 4, 0); },
                           "TransformerEncoder::init: num_layers is 0, there must be at least one");
  const auto layer = nn::TransformerDecoderLayer::init(sp::Key(0), 8, 4);
  const Array x = sp::ones({3, 2, 8});
  expect_error<ShapeError>(
      [&] {
        layer(x, sp::ones({3, 1, 8}));
      },
      "do not fit: all must have one batch size");
  expect_error<ShapeError>(
      [&] {
        layer(x, x, {.memory_mask = sp::ones({2, 3})});
      },
      "attn_mask is f32[2,3], it must be [3,3] or [8,3,3]");
  expect_error<sp::DtypeError>(
      [&] {
        layer(x, x, {.tgt_mask = sp::ones({3, 3}, sp::int32)});
      },
      "attn_mask must be bool or floating, got i32[3,3]");
}

}  // namespace transformer_test
}  // namespace functional_cases
