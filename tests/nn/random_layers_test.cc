// SPDX-License-Identifier: Apache-2.0
// What draws random numbers: under jit as eager, and under vmap each example with its own key as a
// loop, values and gradients.
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace random_layers_test {

using Drawn = std::function<Array(const Array& x, const sp::Key& key)>;

void expect_same(const Array& a, const Array& b, const std::string& what) {
  EXPECT_TRUE(sp::allclose(a, b, {.rtol = 1e-11, .atol = 1e-12})) << what;
}

void compare(const std::string& what, const sp::Shape& shape, const Drawn& f) {
  const auto weighted = [&](const Array& x, const sp::Key& key) {
    const Array y = f(x, key);
    return std::pair{torch_cases::weighted_sum(y), y};
  };
  const auto run = sp::value_and_grad(weighted);
  const Array x = torch_cases::wave(shape, 0.7);
  const Array all = sp::stack({x, sp::flip(x), 0.5 * x});
  const sp::Key keys = sp::random::split(sp::Key(7), 3);
  const auto [mapped, mapped_gradient] = sp::vmap(run)(all, keys);
  const auto compiled = sp::jit(run);
  for (int64_t i = 0; i < 3; ++i) {
    const auto [one, gradient] = run(all[i], keys[i]);
    expect_same(mapped.second[i], one.second, what + " vmap");
    expect_same(mapped_gradient[i], gradient, what + " vmap, gradient");
    const auto [other, other_gradient] = compiled(all[i], keys[i]);
    expect_same(other.second, one.second, what + " jit");
    expect_same(other_gradient, gradient, what + " jit, gradient");
  }
  EXPECT_EQ(compiled.trace_count(), 1) << what;
  EXPECT_FALSE(sp::array_equal(f(x, keys[0]), f(x, keys[1]))) << what;
}

TEST(RandomLayers, Functions) {
  compare("dropout", {4, 5}, [](const Array& x, const sp::Key& key) {
    return nn::dropout(x, {.p = 0.3f, .key = key});
  });
  compare("dropout1d", {2, 6, 3}, [](const Array& x, const sp::Key& key) {
    return nn::dropout1d(x, {.p = 0.5f, .key = key});
  });
  compare("dropout2d", {2, 6, 2, 2}, [](const Array& x, const sp::Key& key) {
    return nn::dropout2d(x, {.p = 0.5f, .key = key});
  });
  compare("dropout3d", {2, 6, 2, 1, 2}, [](const Array& x, const sp::Key& key) {
    return nn::dropout3d(x, {.p = 0.5f, .key = key});
  });
  compare("alpha_dropout", {4, 5}, [](const Array& x, const sp::Key& key) {
    return nn::alpha_dropout(x, {.p = 0.4f, .training = true, .key = key});
  });
  compare("feature_alpha_dropout", {4, 5, 2}, [](const Array& x, const sp::Key& key) {
    return nn::feature_alpha_dropout(x, {.p = 0.4f, .training = true, .key = key});
  });
  compare("rrelu", {4, 5}, [](const Array& x, const sp::Key& key) {
    return nn::rrelu(x, {.training = true, .key = key});
  });
  for (const bool hard : {false, true}) {
    compare("gumbel_softmax", {6, 4}, [&](const Array& x, const sp::Key& key) {
      return nn::gumbel_softmax(0.2 * x, {.tau = 0.7, .hard = hard, .key = key});
    });
  }
  compare("fractional_max_pool2d", {2, 3, 9, 8}, [](const Array& x, const sp::Key& key) {
    return nn::fractional_max_pool2d(x, 2, {.output_size = {5, 4}, .key = key});
  });
  compare("fractional_max_pool3d", {1, 2, 5, 6, 5}, [](const Array& x, const sp::Key& key) {
    return nn::fractional_max_pool3d(x, 2, {.output_size = 3, .key = key});
  });
  compare("scaled_dot_product_attention", {2, 4, 3}, [](const Array& x, const sp::Key& key) {
    return nn::scaled_dot_product_attention(x, x, 2.0 * x, {.dropout_p = 0.4f, .dropout_key = key});
  });
}

TEST(RandomLayers, Recurrent) {
  const sp::Key start(0);
  const auto rnn =
      nn::RNN::init(start, 3, 4, {.num_layers = 2, .dropout = 0.4f, .dtype = sp::float64});
  const auto gru =
      nn::GRU::init(start, 3, 4, {.num_layers = 2, .dropout = 0.4f, .dtype = sp::float64});
  const auto lstm =
      nn::LSTM::init(start, 3, 4, {.num_layers = 2, .dropout = 0.4f, .dtype = sp::float64});
  compare("RNN", {5, 2, 3}, [&](const Array& x, const sp::Key& key) {
    nn::Context ctx{.training = true, .key = key};
    return rnn(x, {}, ctx).output;
  });
  compare("GRU", {5, 2, 3}, [&](const Array& x, const sp::Key& key) {
    nn::Context ctx{.training = true, .key = key};
    return gru(x, {}, ctx).output;
  });
  compare("LSTM", {5, 2, 3}, [&](const Array& x, const sp::Key& key) {
    nn::Context ctx{.training = true, .key = key};
    return lstm(x, {}, ctx).output;
  });
}

TEST(RandomLayers, Attention) {
  const sp::Key start(0);
  const auto attention =
      nn::MultiheadAttention::init(start, 4, 2, {.dropout = 0.4f, .dtype = sp::float64});
  compare("MultiheadAttention", {4, 2, 4}, [&](const Array& x, const sp::Key& key) {
    nn::Context ctx{.training = true, .key = key};
    return attention(x, x, x, ctx);
  });
  const auto encoder = nn::TransformerEncoder::init(
      start, 4, 2, 2, {.dim_feedforward = 6, .dropout = 0.3f, .dtype = sp::float64});
  compare("TransformerEncoder", {3, 2, 4}, [&](const Array& x, const sp::Key& key) {
    nn::Context ctx{.training = true, .key = key};
    return encoder(x, ctx.of(encoder));
  });
  const auto decoder = nn::TransformerDecoder::init(
      start, 4, 2, 1, {.dim_feedforward = 6, .dropout = 0.3f, .dtype = sp::float64});
  compare("TransformerDecoder", {3, 2, 4}, [&](const Array& x, const sp::Key& key) {
    nn::Context ctx{.training = true, .key = key};
    return decoder(x, 0.5 * x, ctx.of(decoder));
  });
}

}  // namespace random_layers_test
}  // namespace functional_cases
