// SPDX-License-Identifier: Apache-2.0
// Errors of layers and functions of nn bear the name that was called, not that of what they use.
#include <gtest/gtest.h>

#include <functional>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace public_names_test {

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

TEST(Names, OfLossesOfDistributionsAndMargins) {
  const Array x = ones({2, 3}), y = ones({2, 2}), i = array({0, 1});
  check({
      {"binary_cross_entropy", [&] { binary_cross_entropy(x, y); }},
      {"poisson_nll_loss", [&] { poisson_nll_loss(x, y); }},
      {"gaussian_nll_loss", [&] { gaussian_nll_loss(x, x, y); }},
      {"gaussian_nll_loss", [&] { gaussian_nll_loss(x, x, nothing()); }},
      {"sigmoid_focal_loss", [&] { sigmoid_focal_loss(x, y); }},
      {"dice_loss", [&] { dice_loss(x, y); }},
      {"hinge_embedding_loss", [&] { hinge_embedding_loss(x, y); }},
      {"margin_ranking_loss", [&] { margin_ranking_loss(x, x, y); }},
      {"cosine_embedding_loss", [&] { cosine_embedding_loss(x, x, y); }},
      {"triplet_margin_loss", [&] { triplet_margin_loss(x, y, x); }},
      {"triplet_margin_with_distance_loss",
       [&] { triplet_margin_with_distance_loss(x, x, nothing()); }},
      {"linear_cross_entropy", [&] { linear_cross_entropy(x, y, i); }},
      {"soft_margin_loss", [&] { soft_margin_loss(x, y); }},
      {"multi_margin_loss", [&] { multi_margin_loss(x, x); }},
      {"multi_margin_loss", [&] { multi_margin_loss(x, i + 2); }},
      {"multilabel_margin_loss", [&] { multilabel_margin_loss(x, i); }},
      {"multilabel_soft_margin_loss", [&] { multilabel_soft_margin_loss(x, y); }},
      {"ctc_loss", [&] { ctc_loss(x, i, i, i); }},
  });
}

TEST(Names, OfNormsAndSimilarities) {
  const Array x = ones({3, 4}), v = ones({5});
  check({
      {"group_norm", [&] { group_norm(x, 3); }},
      {"GroupNorm", [&] { GroupNorm::init(2, 4)(v); }},
      {"GroupNorm::init", [&] { GroupNorm::init(3, 4); }},
      {"instance_norm", [&] { instance_norm(x); }},
      {"InstanceNorm1d", [&] { InstanceNorm1d::init(4)(v); }},
      {"InstanceNorm2d", [&] { InstanceNorm2d::init(4)(x); }},
      {"InstanceNorm3d", [&] { InstanceNorm3d::init(-4, {.affine = true}); }},
      {"rms_norm", [&] { rms_norm(x, {5}); }},
      {"RMSNorm", [&] { RMSNorm::init({5})(x); }},
      {"RMSNorm::init", [&] { RMSNorm::init({-5}); }},
      {"local_response_norm", [&] { local_response_norm(v, 3); }},
      {"LocalResponseNorm", [&] { LocalResponseNorm{0}(x); }},
      {"normalize", [&] { normalize(v); }},
      {"cosine_similarity", [&] { cosine_similarity(x, v); }},
      {"CosineSimilarity", [&] { CosineSimilarity{}(x, v); }},
      {"pairwise_distance", [&] { pairwise_distance(x, v); }},
      {"PairwiseDistance", [&] { PairwiseDistance{}(x, v); }},
      {"pdist", [&] { pdist(v); }},
  });
}

TEST(Names, OfPoolsAndResampling) {
  const Array x = ones({3, 4}), image = ones({1, 1, 4, 4});
  Context training{.training = true};
  check({
      {"adaptive_avg_pool1d", [&] { adaptive_avg_pool1d(image, 2); }},
      {"adaptive_max_pool2d", [&] { adaptive_max_pool2d(image, 0); }},
      {"adaptive_max_pool3d_with_indices", [&] { adaptive_max_pool3d_with_indices(x, 2); }},
      {"AdaptiveAvgPool2d", [&] { AdaptiveAvgPool2d{0}(image); }},
      {"AdaptiveMaxPool1d", [&] { AdaptiveMaxPool1d{0}(x); }},
      {"lp_pool1d", [&] { lp_pool1d(x, 0, 2); }},
      {"LPPool3d", [&] { LPPool3d{}(x); }},
      {"max_pool2d_with_indices", [&] { max_pool2d_with_indices(x, 2); }},
      {"fractional_max_pool2d", [&] { fractional_max_pool2d(image, 2, {}); }},
      {"fractional_max_pool3d_with_indices",
       [&] { fractional_max_pool3d_with_indices(image, 2, {.output_size = 9}); }},
      {"FractionalMaxPool2d", [&] { FractionalMaxPool2d{}(image, training); }},
      {"UpsamplingBilinear2d", [&] { UpsamplingBilinear2d{}(image); }},
      {"UpsamplingNearest2d", [&] { UpsamplingNearest2d{}(image); }},
      {"max_unpool1d", [&] { max_unpool1d(x, x, 2); }},
      {"MaxUnpool2d", [&] { MaxUnpool2d{}(image, x); }},
      {"interpolate", [&] { interpolate(image, {}); }},
      {"Upsample", [&] { Upsample{}(image); }},
      {"grid_sample", [&] { grid_sample(image, x); }},
      {"affine_grid",
       [&] {
         affine_grid(x, {1, 1, 2, 2});
       }},
      {"unfold", [&] { unfold(x, 2); }},
      {"Unfold", [&] { Unfold{}(x); }},
      {"fold", [&] { fold(x, 4, 2); }},
      {"Fold", [&] { Fold{}(x); }},
      {"pad", [&] { nn::pad(x, {1}); }},
      {"ZeroPad1d", [&] { ZeroPad1d{{1}}(x); }},
      {"ReflectionPad2d", [&] { ReflectionPad2d{9}(image); }},
      {"ReplicationPad3d", [&] { ReplicationPad3d{1}(x); }},
      {"CircularPad1d", [&] { CircularPad1d{9}(x); }},
      {"ConstantPad2d", [&] { ConstantPad2d{-9}(image); }},
      {"pixel_shuffle", [&] { pixel_shuffle(image, 2); }},
      {"PixelShuffle", [&] { PixelShuffle{}(image); }},
      {"pixel_unshuffle", [&] { pixel_unshuffle(image, 3); }},
      {"PixelUnshuffle", [&] { PixelUnshuffle{3}(image); }},
      {"channel_shuffle", [&] { channel_shuffle(image, 2); }},
      {"ChannelShuffle", [&] { ChannelShuffle{2}(image); }},
      {"unflatten", [&] { unflatten(x, 1, {3}); }},
      {"Unflatten", [&] { Unflatten{}(x); }},
  });
}

TEST(Names, OfTheOtherLayers) {
  const Array x = ones({3, 4}), image = ones({1, 1, 4, 4});
  const Key key(0);
  Context training{.training = true};
  check({
      {"Conv3d", [&] { Conv3d::init(key, 1, 2, 3)(x); }},
      {"conv_transpose1d", [&] { conv_transpose1d(x, x); }},
      {"ConvTranspose2d", [&] { ConvTranspose2d::init(key, 1, 2, 3)(x); }},
      {"ConvTranspose3d", [&] { ConvTranspose3d::init(key, 1, 2, 0); }},
      {"bilinear", [&] { bilinear(x, x, x); }},
      {"Bilinear", [&] { Bilinear::init(key, 4, 3, 2)(x, x); }},
      {"Bilinear::init", [&] { Bilinear::init(key, -4, 3, 2); }},
      {"Embedding::init", [&] { Embedding::init(key, 3, 2, {.padding_idx = 3}); }},
      {"embedding_bag", [&] { embedding_bag(arange(4), x); }},
      {"EmbeddingBag", [&] { EmbeddingBag{x}(arange(4)); }},
      {"EmbeddingBag::init", [&] { EmbeddingBag::init(key, -3, 2); }},
      {"dropout2d", [&] { dropout2d(image); }},
      {"Dropout1d", [&] { Dropout1d{}(image, training); }},
      {"Dropout3d", [&] { Dropout3d{2}(image); }},
      {"alpha_dropout", [&] { alpha_dropout(x, {.training = true}); }},
      {"AlphaDropout", [&] { AlphaDropout{2}(x); }},
      {"feature_alpha_dropout", [&] { feature_alpha_dropout(x, {.p = 2}); }},
      {"FeatureAlphaDropout", [&] { FeatureAlphaDropout{}(x, training); }},
      {"threshold", [&] { threshold(nothing(), 0, 0); }},
      {"Threshold", [&] { Threshold{}(nothing()); }},
      {"log_sigmoid", [&] { log_sigmoid(nothing()); }},
      {"prelu", [&] { prelu(x, x); }},
      {"PReLU", [&] { PReLU::init(3)(x); }},
      {"PReLU::init", [&] { PReLU::init(-3); }},
      {"AdaptiveLogSoftmaxWithLoss::init",
       [&] { AdaptiveLogSoftmaxWithLoss::init(key, 4, 5, {5}); }},
      {"AdaptiveLogSoftmaxWithLoss",
       [&] { AdaptiveLogSoftmaxWithLoss::init(key, 5, 5, {3})(x, arange(3)); }},
      {"rrelu", [&] { rrelu(x, {.training = true}); }},
      {"RReLU", [&] { RReLU{}(x, training); }},
      {"gumbel_softmax", [&] { gumbel_softmax(x, {}); }},
  });
}

}  // namespace public_names_test
}  // namespace spruce::nn
