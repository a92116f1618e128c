// SPDX-License-Identifier: Apache-2.0
// Errors of layers and functions of nn bear the name that was called, not that of what they use.
#include <gtest/gtest.h>

#include <functional>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace {

struct Call {
  const char* name;
  std::function<void()> f;
};

void check(std::initializer_list<Call> calls) {
  for (const Call& c : calls) {
    const std::string text = message([&] {
      c.f();
      return 0;
    });
    const std::string with = std::string(c.name) + ": ";
    EXPECT_EQ(text.substr(0, with.size()), with) << text;
  }
}

const Array& nothing() {
  static const Array a;
  return a;
}

TEST(Names, OfActivations) {
  const Array x = ones({3, 4}), truth = ones({2}, bool_);
  check({
      {"relu6", [] { relu6(nothing()); }},
      {"sigmoid", [] { nn::sigmoid(nothing()); }},
      {"tanh", [] { nn::tanh(nothing()); }},
      {"silu", [] { silu(nothing()); }},
      {"mish", [] { mish(nothing()); }},
      {"selu", [] { selu(nothing()); }},
      {"hardsigmoid", [] { hardsigmoid(nothing()); }},
      {"hardswish", [] { hardswish(nothing()); }},
      {"softsign", [] { softsign(nothing()); }},
      {"logsigmoid", [] { logsigmoid(nothing()); }},
      {"tanhshrink", [] { tanhshrink(nothing()); }},
      {"relu", [] { relu(nothing()); }},
      {"gelu", [] { gelu(nothing()); }},
      {"gelu", [] { gelu(nothing(), {.approximate = GeluApproximation::kTanh}); }},
      {"elu", [] { elu(nothing()); }},
      {"celu", [] { celu(nothing()); }},
      {"leaky_relu", [] { leaky_relu(nothing()); }},
      {"hardtanh", [] { hardtanh(nothing()); }},
      {"hardtanh",
       [&] {
         hardtanh(x, {2, 1});
       }},
      {"softplus", [] { softplus(nothing()); }},
      {"hardshrink", [] { hardshrink(nothing()); }},
      {"softshrink", [] { softshrink(nothing()); }},
      {"softmax", [&] { softmax(x, {.dim = 9}); }},
      {"log_softmax", [&] { log_softmax(x, {.dim = 9}); }},
      {"softmin", [&] { softmin(x, {.dim = 9}); }},
      {"softmin", [&] { softmin(truth); }},
      {"glu", [&] { glu(x, {.dim = 9}); }},
      {"glu", [&] { glu(ones({3})); }},
      {"flatten", [&] { flatten(ones({3})); }},
  });
}

TEST(Names, OfLosses) {
  const Array x = ones({3, 4}), y = ones({5, 6}), i = arange(3);
  check({
      {"cross_entropy", [&] { cross_entropy(x, y); }},
      {"cross_entropy", [&] { cross_entropy(x, arange(4)); }},
      {"cross_entropy", [&] { cross_entropy(x, nothing()); }},
      {"cross_entropy", [&] { cross_entropy(x, i, {.reduction = Reduction::kBatchMean}); }},
      {"nll_loss", [&] { nll_loss(x, arange(4)); }},
      {"nll_loss", [&] { nll_loss(nothing(), i); }},
      {"mse_loss", [&] { mse_loss(x, y); }},
      {"l1_loss", [&] { l1_loss(x, y); }},
      {"l1_loss", [&] { l1_loss(x, x, {.reduction = Reduction::kBatchMean}); }},
      {"huber_loss", [&] { huber_loss(x, y); }},
      {"smooth_l1_loss", [&] { smooth_l1_loss(x, y); }},
      {"smooth_l1_loss", [&] { smooth_l1_loss(x, x, {.beta = -1}); }},
      {"kl_div", [&] { kl_div(x, y); }},
      {"bce_with_logits", [&] { bce_with_logits(x, y); }},
      {"bce_with_logits", [&] { bce_with_logits(x, x, {.weight = y}); }},
      {"binary_cross_entropy_with_logits", [&] { binary_cross_entropy_with_logits(x, y); }},
  });
}

TEST(Names, OfLayersAndTheirFunctions) {
  const Array x = ones({3, 4}), v = ones({5}), image = ones({1, 1, 4, 4});
  const Key key(0), no_key;
  Context training{.training = true, .key = key};
  check({
      {"linear",
       [&] {
         linear(x, ones({2, 5}));
       }},
      {"linear", [&] { linear(x, nothing()); }},
      {"linear", [&] { Linear::init(key, 5, 2)(x); }},
      {"Linear::init", [&] { Linear::init(key, -1, 2); }},
      {"Linear::init", [&] { Linear::init(no_key, 1, 2); }},
      {"conv1d", [&] { conv1d(x, v); }},
      {"conv2d", [&] { conv2d(x, v); }},
      {"conv3d", [&] { conv3d(x, v); }},
      {"conv2d",
       [&] {
         conv2d(image, ones({1, 1, 5, 5}));
       }},
      {"Conv1d", [&] { Conv1d::init(key, -1, 2, 3); }},
      {"Conv2d", [&] { Conv2d::init(key, 1, 2, 0); }},
      {"Conv1d", [&] { Conv1d::init(key, 1, 2, 3)(x); }},
      {"Conv2d", [&] { Conv2d::init(key, 1, 2, 3)(x); }},
      {"dropout", [&] { dropout(x, {.p = 2, .key = key}); }},
      {"dropout", [&] { dropout(nothing(), {.key = key}); }},
      {"embedding", [&] { embedding(x, x); }},
      {"embedding", [&] { embedding(arange(9), x); }},
      {"embedding", [&] { embedding(arange(2), v); }},
      {"Embedding::init", [&] { Embedding::init(key, -1, 2); }},
      {"layer_norm", [&] { layer_norm(x, {5}); }},
      {"layer_norm", [&] { layer_norm(x, {4}, v); }},
      {"LayerNorm", [&] { LayerNorm::init({5})(x); }},
      {"LayerNorm::init", [&] { LayerNorm::init({-5}); }},
      {"batch_norm", [&] { batch_norm(x, v, v); }},
      {"BatchNorm", [&] { BatchNorm::init(7)(x); }},
      {"BatchNorm::init", [&] { BatchNorm::init(-7); }},
      {"max_pool1d", [&] { max_pool1d(image, 2); }},
      {"avg_pool3d", [&] { avg_pool3d(x, 2); }},
      {"MaxPool1d", [&] { MaxPool1d{9}(x); }},
      {"MaxPool2d", [&] { MaxPool2d{9}(image); }},
      {"MaxPool3d", [&] { MaxPool3d{9}(image); }},
      {"AvgPool1d", [&] { AvgPool1d{9}(x); }},
      {"AvgPool2d", [&] { AvgPool2d{9}(image); }},
      {"AvgPool3d", [&] { AvgPool3d{9}(image); }},
      {"scaled_dot_product_attention", [&] { scaled_dot_product_attention(x, x, v); }},
      {"scaled_dot_product_attention", [&] { scaled_dot_product_attention(x, x, nothing()); }},
      {"MultiheadAttention", [&] { MultiheadAttention::init(key, 4, 3); }},
      {"MultiheadAttention", [&] { MultiheadAttention::init(key, 4, 2)(v, v, v); }},
      {"LSTMCell::init", [&] { LSTMCell::init(key, 2, -3); }},
      {"LSTMCell",
       [&] {
         LSTMCell::init(key, 2, 3)(x, {v, v});
       }},
      {"LSTM::init", [&] { LSTM::init(key, 2, -3); }},
      {"LSTM", [&] { LSTM::init(key, 2, 3)(x); }},
      {"he_normal", [&] { init::he_normal(key, {3}); }},
      {"glorot_uniform",
       [&] {
         init::glorot_uniform(no_key, {3, 3});
       }},
  });
}

}  // namespace
}  // namespace spruce::nn
