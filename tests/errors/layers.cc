// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;

Section layer_mistakes() {
  return {
      "Layers",
      __FILE__,
      {
          {"An input with another number of features",
           CODE(nn::linear(sp::ones({5, 3}), sp::ones({2, 4}))),
           CODE(nn::linear(sp::ones({5, 4}), sp::ones({2, 4}))), "?", "?"},
          {"A weight the other way round", CODE(nn::linear(sp::ones({5, 4}), sp::ones({4, 2}))),
           CODE(nn::linear(sp::ones({5, 4}), sp::transpose(sp::ones({4, 2})))), "?", "?"},
          {"A bias of another size",
           CODE(nn::linear(sp::ones({5, 4}), sp::ones({2, 4}), sp::ones({4}))),
           CODE(nn::linear(sp::ones({5, 4}), sp::ones({2, 4}), sp::ones({2}))), "?", "?"},
          {"A layer for another number of features",
           CODE(nn::Linear::init(sp::Key(0), 4, 2)(sp::ones({5, 3}))),
           CODE(nn::Linear::init(sp::Key(0), 4, 2)(sp::ones({5, 4}))), "?", "?"},
          {"An image with another number of channels",
           CODE(nn::conv2d(sp::ones({1, 3, 8, 8}), sp::ones({4, 1, 3, 3}))),
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}))), "?", "?"},
          {"An image without channels", CODE(nn::conv2d(sp::ones({8, 8}), sp::ones({4, 1, 3, 3}))),
           CODE(nn::conv2d(sp::ones({1, 8, 8}), sp::ones({4, 1, 3, 3}))), "?", "?"},
          {"Groups that do not divide the channels",
           CODE(nn::conv2d(sp::ones({1, 3, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.groups = 2})),
           CODE(nn::conv2d(sp::ones({1, 2, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.groups = 2})), "?",
           "?"},
          {"A stride of 0",
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.stride = 0})),
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.stride = 2})), "?",
           "?"},
          {"A stride for another number of axes",
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {},
                           {.stride = {1, 2, 1}})),
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.stride = {1, 2}})),
           "?", "?"},
          {"A padding that has no such name",
           CODE(
               nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.padding = "full"})),
           CODE(
               nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.padding = "same"})),
           "?", "?"},
          {"Padding 'same' with a stride",
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {},
                           {.stride = 2, .padding = "same"})),
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {},
                           {.stride = 2, .padding = 1})),
           "?", "?"},
          {"A pooling window larger than the image",
           CODE(nn::max_pool2d(sp::ones({1, 1, 3, 3}), 4)),
           CODE(nn::max_pool2d(sp::ones({1, 1, 3, 3}), 3)), "?", "?"},
          {"Running statistics of another size",
           CODE(nn::batch_norm(sp::ones({4, 3}), sp::zeros({2}), sp::ones({2}))),
           CODE(nn::batch_norm(sp::ones({4, 3}), sp::zeros({3}), sp::ones({3}))), "?", "?"},
          {"Statistics of one value",
           CODE(nn::batch_norm(sp::ones({1, 3}), {}, {}, {}, {}, {.training = true})),
           CODE(nn::batch_norm(sp::ones({2, 3}), {}, {}, {}, {}, {.training = true})), "?", "?"},
          {"A norm over axes that the input does not end in",
           CODE(nn::layer_norm(sp::ones({4, 3}), {4})), CODE(nn::layer_norm(sp::ones({4, 3}), {3})),
           "?", "?"},
          {"Dropout without a key", CODE(nn::dropout(sp::ones({4}), {.p = 0.5f})),
           CODE(nn::dropout(sp::ones({4}), {.p = 0.5f, .key = sp::Key(0)})), "?", "?"},
          {"A layer that draws, in a context without a key",
           CODE(nn::Context ctx{.training = true}; nn::Dropout{.p = 0.5f}(sp::ones({4}), ctx)),
           CODE(nn::Context ctx{.training = true, .key = sp::Key(0)};
                nn::Dropout{.p = 0.5f}(sp::ones({4}), ctx)),
           "?", "?"},
          {"A probability above 1", CODE(nn::dropout(sp::ones({4}), {.p = 50, .key = sp::Key(0)})),
           CODE(nn::dropout(sp::ones({4}), {.p = 0.5f, .key = sp::Key(0)})), "?", "?"},
          {"Arguments of embedding the other way round",
           CODE(nn::embedding(sp::ones({10, 4}), sp::array({1, 2}))),
           CODE(nn::embedding(sp::array({1, 2}), sp::ones({10, 4}))), "?", "?"},
          {"A word beyond the table", CODE(nn::embedding(sp::array({1, 10}), sp::ones({10, 4}))),
           CODE(nn::embedding(sp::array({1, 9}), sp::ones({10, 4}))), "?", "?"},
          {"New buffers for a copy of the model",
           CODE(const nn::BatchNorm model = nn::BatchNorm::init(3);
                const nn::BatchNorm copy = model; nn::Context ctx{.training = true};
                copy(sp::ones({4, 3}), ctx); ctx.updated(model)),
           CODE(const nn::BatchNorm model = nn::BatchNorm::init(3);
                nn::Context ctx{.training = true}; model(sp::ones({4, 3}), ctx);
                ctx.updated(model)),
           "?", "?"},
          {"Halves of an odd axis", CODE(nn::glu(sp::ones({2, 3}))),
           CODE(nn::glu(sp::ones({2, 4}))), "?", "?"},
      }};
}

Section loss_mistakes() {
  return {
      "Losses",
      __FILE__,
      {
          {"A class that the input does not have",
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 3}))),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 2}))), "?", "?"},
          {"Labels for another number of examples",
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1, 2}))),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}))), "?", "?"},
          {"Floating labels", CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0.0f, 1.0f}))),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}))), "?", "?"},
          {"Floating labels of nll_loss",
           CODE(nn::nll_loss(sp::ones({2, 3}), sp::array({0.0f, 1.0f}))),
           CODE(nn::nll_loss(sp::ones({2, 3}), sp::array({0, 1}))), "?", "?"},
          {"Integer logits",
           CODE(nn::cross_entropy(sp::ones({2, 3}, sp::int32), sp::array({0, 1}))),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}))), "?", "?"},
          {"Weights for another number of classes",
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}), {.weight = sp::ones({2})})),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}), {.weight = sp::ones({3})})),
           "?", "?"},
          {"Label smoothing above 1",
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}), {.label_smoothing = 10})),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}), {.label_smoothing = 0.1})),
           "?", "?"},
          {"A target that would broadcast", CODE(nn::mse_loss(sp::ones({4, 1}), sp::ones({4}))),
           CODE(nn::mse_loss(sp::ones({4, 1}), sp::ones({4, 1}))), "?", "?"},
          {"Probabilities of another shape",
           CODE(nn::bce_with_logits(sp::ones({4, 1}), sp::ones({4}))),
           CODE(nn::bce_with_logits(sp::ones({4}), sp::ones({4}))), "?", "?"},
      }};
}
