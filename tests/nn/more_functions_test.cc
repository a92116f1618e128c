// SPDX-License-Identifier: Apache-2.0
// conv_tbc, multi_head_attention_forward, LinearCrossEntropyLoss, masks of pruning and grouped_mm
// against PyTorch.
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace {

TEST(ConvTbc, MatchesPyTorch) {
  check("conv_tbc", 3, [](const Inputs& in, const Options& o) {
    return nn::conv_tbc(in[0], in[1], in.size() > 2 ? in[2] : Array(), o.integer("pad"));
  });
}

TEST(ConvTbc, RefusesWhatDoesNotFit) {
  const Array x = sp::ones({5, 2, 3});
  expect_error<sp::ShapeError>(
      [&] {
        nn::conv_tbc(x, sp::ones({3, 4, 4}));
      },
      "do not fit: input must be f[t, n, in] and weight f[k, in, out]");
  expect_error<sp::ValueError>(
      [&] {
        nn::conv_tbc(x, sp::ones({3, 3, 4}), {}, -1);
      },
      "padding is -1");
}

TEST(MultiHeadAttentionForward, MatchesPyTorch) {
  check("multi_head_attention_forward", 6, [](const Inputs& given, const Options& o) {
    Inputs in;
    for (const Array& x : given) in.push_back(x / 4.0);
    const bool separate = o.flag("separate");
    nn::MultiHeadAttentionForwardOptions options;
    options.out_proj_bias = in[4];
    options.in_proj_bias = in[5];
    if (separate) {
      options.q_proj_weight = in[6];
      options.k_proj_weight = in[7];
      options.v_proj_weight = in[8];
    }
    if (o.flag("kv")) {
      options.bias_k = in[in.size() - 2];
      options.bias_v = in[in.size() - 1];
    }
    options.add_zero_attn = o.flag("zero");
    options.average_attn_weights = o.flag("average");
    if (o.flag("mask"))
      options.key_padding_mask =
          sp::array({{false, false, false, true}, {false, true, false, false}});
    const auto r = nn::multi_head_attention_forward(in[0], in[1], in[2], 2,
                                                    separate ? Array() : in[6], in[3], options);
    return joined({r.output, r.weights});
  });
}

TEST(MultiHeadAttentionForward, GivesNoWeightsUnlessAskedAndDropsInTraining) {
  const Array x = sp::random::normal(sp::Key(0), {3, 2, 4}),
              w = sp::random::normal(sp::Key(1), {12, 4});
  const Array out = sp::eye(4);
  const auto plain = nn::multi_head_attention_forward(x, x, x, 2, w, out, {.need_weights = false});
  EXPECT_FALSE(plain.weights.defined());
  const auto dropped = [&](uint64_t seed) {
    return nn::multi_head_attention_forward(x, x, x, 2, w, out,
                                            {.dropout_p = 0.5f, .key = sp::Key(seed)})
        .output;
  };
  EXPECT_FALSE(sp::array_equal(dropped(1), dropped(2)));
  EXPECT_TRUE(sp::array_equal(dropped(1), dropped(1)));
  const auto evaluation =
      nn::multi_head_attention_forward(x, x, x, 2, w, out, {.dropout_p = 0.5f, .training = false});
  EXPECT_TRUE(sp::allclose(evaluation.output, plain.output));
  expect_error<sp::ValueError>(
      [&] { nn::multi_head_attention_forward(x, x, x, 2, w, out, {.dropout_p = 0.5f}); },
      "dropout in training needs a key");
  expect_error<sp::ValueError>([&] { nn::multi_head_attention_forward(x, x, x, 3, w, out); },
                               "num_heads is 3");
  expect_error<sp::ValueError>([&] { nn::multi_head_attention_forward(x, x, x, 2, {}, out); },
                               "q_proj_weight");
}

TEST(LinearCrossEntropyLoss, MatchesPyTorch) {
  check("linear_cross_entropy_loss", 1, [](const Inputs& in, const Options&) {
    const nn::LinearCrossEntropyLoss loss{{in[1], in[2]}, {.label_smoothing = 0.1}};
    return loss(in[0], sp::array({0, 4, 2, 1}));
  });
  const auto made = nn::LinearCrossEntropyLoss::init(sp::Key(0), 3, 5);
  EXPECT_FALSE(made.linear.bias.has_value());
  EXPECT_EQ(made.linear.weight.shape(), (sp::Shape{5, 3}));
}

// A share has a point in it, a number of elements none.
nn::prune::Amount amount_of(const Options& o) {
  return o.text("amount").find('.') == std::string::npos ? nn::prune::Amount(o.integer("amount"))
                                                         : nn::prune::Amount(o.number("amount"));
}

// x through a mask that is made anew of what is left, as often as the case says.
Array pruned(const Array& x, const Options& o,
             const std::function<Array(const nn::prune::PruneOptions&)>& mask) {
  nn::prune::PruneOptions options;
  if (o.has("scores") && o.flag("scores")) options.importance_scores = sp::cos(3.0 * x);
  for (int64_t i = 0; i < o.integer("times"); ++i) options.mask = mask(options);
  return nn::prune::apply_mask(x, options.mask);
}

TEST(PruneCases, MatchPyTorch) {
  check("prune_l1", 18, [](const Inputs& in, const Options& o) {
    return pruned(in[0], o, [&](const nn::prune::PruneOptions& options) {
      return nn::prune::l1_unstructured(in[0], amount_of(o), options);
    });
  });
  check("prune_ln", 72, [](const Inputs& in, const Options& o) {
    return pruned(in[0], o, [&](const nn::prune::PruneOptions& options) {
      return nn::prune::ln_structured(in[0], amount_of(o), o.number("n"),
                                      static_cast<int>(o.integer("dim")), options);
    });
  });
  check("prune_global", 3, [](const Inputs& in, const Options& o) {
    const std::vector<Array> masks = nn::prune::global_unstructured(in, amount_of(o));
    return joined({nn::prune::apply_mask(in[0], masks[0]), nn::prune::apply_mask(in[1], masks[1])});
  });
}

TEST(GroupedMm, MatchesPyTorch) {
  check("grouped_mm", 7, [](const Inputs& in, const Options& o) {
    const std::string& offs = o.text("offs");
    return nn::grouped_mm(in[0], in[1],
                          offs == "none"   ? Array()
                          : offs == "even" ? sp::array({4, 8})
                                           : sp::array({4, 4, 8}));
  });
}

// Each group by itself.
TEST(GroupedMm, IsTheProductsOfTheGroups) {
  const Array a = sp::random::normal(sp::Key(0), {7, 4}),
              b = sp::random::normal(sp::Key(1), {3, 4, 5});
  const Array offs = sp::array({2, 2, 6});
  const Array rows = nn::grouped_mm(a, b, offs);
  const auto part = [](const Array& x, int64_t from, int64_t to) { return x[sp::slice(from, to)]; };
  EXPECT_TRUE(sp::allclose(part(rows, 0, 2), sp::matmul(part(a, 0, 2), b[0]), {.atol = 1e-5}));
  EXPECT_TRUE(sp::allclose(part(rows, 2, 6), sp::matmul(part(a, 2, 6), b[2]), {.atol = 1e-5}));
  EXPECT_TRUE(sp::array_equal(rows[6], sp::zeros({5})));
  const Array columns = nn::grouped_mm(sp::swapaxes(b, 1, 2), sp::transpose(a), offs);
  EXPECT_TRUE(sp::allclose(columns, sp::transpose(rows), {.atol = 1e-5}));
  const Array c = sp::random::normal(sp::Key(2), {7, 3});
  const Array inner = nn::grouped_mm(sp::transpose(a), c, offs);
  EXPECT_EQ(inner.shape(), (sp::Shape{3, 4, 3}));
  EXPECT_TRUE(sp::allclose(inner[2], sp::matmul(sp::transpose(part(a, 2, 6)), part(c, 2, 6)),
                           {.atol = 1e-5}));
  EXPECT_TRUE(sp::array_equal(inner[1], sp::zeros({4, 3})));
  const Array d = sp::random::normal(sp::Key(3), {3, 5, 2});
  EXPECT_TRUE(sp::array_equal(nn::grouped_mm(b, d), sp::matmul(b, d)));
  EXPECT_TRUE(sp::allclose(sp::jit([&](const Array& o) { return nn::grouped_mm(a, b, o); })(offs),
                           rows, {.atol = 1e-5}));
  expect_error<sp::ValueError>([&] { nn::grouped_mm(a, b); }, "offs are missing");
  expect_error<sp::ValueError>([&] { nn::grouped_mm(b, d, offs); }, "leave them out");
  expect_error<sp::ShapeError>([&] { nn::grouped_mm(a, d, offs); }, "do not fit");
  expect_error<sp::ShapeError>([&] { nn::grouped_mm(a, b, sp::array({2, 7})); }, "do not fit");
  expect_error<sp::DtypeError>([&] { nn::grouped_mm(a, b, sp::ones({3})); }, "must be integers");
}

TEST(NativeChannelShuffle, IsChannelShuffle) {
  const Array x = sp::arange(16, sp::float32).reshape({1, 4, 2, 2});
  EXPECT_TRUE(sp::array_equal(nn::native_channel_shuffle(x, 2), nn::channel_shuffle(x, 2)));
}

}  // namespace
}  // namespace functional_cases
