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
           CODE(nn::linear(sp::ones({5, 4}), sp::ones({2, 4}))), "ShapeError",
           "linear: x f32[5,3] and weight f32[2,4] do not fit: x must be f[..., in] and weight "
           "f[out, in]" HERE},
          {"A layer made by its fields", CODE(nn::Linear{4, 2}(sp::ones({5, 4}))),
           CODE(nn::Linear::init(sp::Key(0), 4, 2)(sp::ones({5, 4}))), "ShapeError",
           "linear: x f32[5,4] and weight i32*[] do not fit: x must be f[..., in] and weight "
           "f[out, in]; the weight is a number: a layer is made by Linear::init(key, ...), braces "
           "or parentheses only fill its fields" HERE},
          {"A slope made by its fields", CODE(nn::PReLU{1}(sp::ones({5, 4}))),
           CODE(nn::PReLU::init(1)(sp::ones({5, 4}))), "ValueError",
           "PReLU: weight is i32*[]; the weight is a number: a layer is made by PReLU::init(key, "
           "...), braces or parentheses only fill its fields" HERE},
          {"A weight the other way round", CODE(nn::linear(sp::ones({5, 4}), sp::ones({4, 2}))),
           CODE(nn::linear(sp::ones({5, 4}), sp::transpose(sp::ones({4, 2})))), "ShapeError",
           "linear: x f32[5,4] and weight f32[4,2] do not fit: x must be f[..., in] and weight "
           "f[out, in]" HERE},
          {"A bias of another size",
           CODE(nn::linear(sp::ones({5, 4}), sp::ones({2, 4}), sp::ones({4}))),
           CODE(nn::linear(sp::ones({5, 4}), sp::ones({2, 4}), sp::ones({2}))), "ShapeError",
           "linear: weight f32[2,4] needs bias f[2], got f32[4]" HERE},
          {"A layer for another number of features",
           CODE(nn::Linear::init(sp::Key(0), 4, 2)(sp::ones({5, 3}))),
           CODE(nn::Linear::init(sp::Key(0), 4, 2)(sp::ones({5, 4}))), "ShapeError",
           "linear: x f32[5,3] and weight f32[2,4] do not fit: x must be f[..., in] and weight "
           "f[out, in]" HERE},
          {"An image with another number of channels",
           CODE(nn::conv2d(sp::ones({1, 3, 8, 8}), sp::ones({4, 1, 3, 3}))),
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}))), "ShapeError",
           "conv2d: x f32[1,3,8,8] and weight f32[4,1,3,3] with groups 1 do not fit: x must be "
           "f[n, in, height, width], weight f[out, in / groups, ...] with out divisible by groups; "
           "x has 3 channels, weight takes 1" HERE},
          {"An image without channels", CODE(nn::conv2d(sp::ones({8, 8}), sp::ones({4, 1, 3, 3}))),
           CODE(nn::conv2d(sp::ones({1, 8, 8}), sp::ones({4, 1, 3, 3}))), "ShapeError",
           "conv2d: x f32[8,8] and weight f32[4,1,3,3] with groups 1 do not fit: x must be f[n, "
           "in, height, width], weight f[out, in / groups, ...] with out divisible by groups" HERE},
          {"Groups that do not divide the channels",
           CODE(nn::conv2d(sp::ones({1, 3, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.groups = 2})),
           CODE(nn::conv2d(sp::ones({1, 2, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.groups = 2})),
           "ShapeError",
           "conv2d: x f32[1,3,8,8] and weight f32[4,1,3,3] with groups 2 do not fit: x must be "
           "f[n, in, height, width], weight f[out, in / groups, ...] with out divisible by groups; "
           "x has 3 channels, weight takes 2" HERE},
          {"A stride of 0",
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.stride = 0})),
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.stride = 2})),
           "ShapeError", "conv2d: stride is [0,0]; entries must be at least 1" HERE},
          {"A stride for another number of axes",
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {},
                           {.stride = {1, 2, 1}})),
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.stride = {1, 2}})),
           "ShapeError",
           "conv2d: stride has 3 entries, 2 are needed, one for each spatial axis" HERE},
          {"A padding that has no such name",
           CODE(
               nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.padding = "full"})),
           CODE(
               nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {}, {.padding = "same"})),
           "ValueError", "conv2d: padding 'full' is none of 'same', 'valid'; or give numbers" HERE},
          {"Padding 'same' with a stride",
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {},
                           {.stride = 2, .padding = "same"})),
           CODE(nn::conv2d(sp::ones({1, 1, 8, 8}), sp::ones({4, 1, 3, 3}), {},
                           {.stride = 2, .padding = 1})),
           "ValueError", "conv2d: padding 'same' needs stride 1, got [2,2]" HERE},
          {"A convolution window larger than the image",
           CODE(nn::conv2d(sp::ones({1, 1, 4, 4}), sp::ones({4, 1, 3, 3}), {}, {.dilation = 2})),
           CODE(nn::conv2d(sp::ones({1, 1, 5, 5}), sp::ones({4, 1, 3, 3}), {}, {.dilation = 2})),
           "ShapeError",
           "conv2d: the window of weight f32[4,1,3,3] with dilation [2,2] is larger than the "
           "padded "
           "input f32[1,1,4,4]" HERE},
          {"A transposed convolution with the weight of a convolution",
           CODE(nn::conv_transpose2d(sp::ones({1, 4, 8, 8}), sp::ones({2, 4, 3, 3}))),
           CODE(nn::conv_transpose2d(sp::ones({1, 4, 8, 8}), sp::ones({4, 2, 3, 3}))), "ShapeError",
           "conv_transpose2d: x f32[1,4,8,8] and weight f32[2,4,3,3] with groups 1 do not fit: x "
           "must be f[n, in, height, width], weight f[in, out / groups, ...] with in divisible by "
           "groups; x has 4 channels, weight takes 2" HERE},
          {"More behind the output than the stride leaves open",
           CODE(nn::conv_transpose2d(sp::ones({1, 4, 8, 8}), sp::ones({4, 2, 3, 3}), {},
                                     {.stride = 2, .output_padding = 2})),
           CODE(nn::conv_transpose2d(sp::ones({1, 4, 8, 8}), sp::ones({4, 2, 3, 3}), {},
                                     {.stride = 2, .output_padding = 1})),
           "ShapeError",
           "conv_transpose2d: output_padding [2,2] must be smaller than stride [2,2] or dilation "
           "[1,1]" HERE},
          {"A mirror as wide as its axis",
           CODE(nn::pad(sp::ones({1, 1, 4}), {4, 4}, {.mode = nn::PaddingMode::kReflect})),
           CODE(nn::pad(sp::ones({1, 1, 4}), {3, 3}, {.mode = nn::PaddingMode::kReflect})),
           "ShapeError",
           "pad: padding 4, 4 of axis 2 of x f32[1,1,4]; a mirror must be smaller than its "
           "axis" HERE},
          {"Padding of one side", CODE(nn::pad(sp::ones({1, 1, 4}), {1})),
           CODE(nn::pad(sp::ones({1, 1, 4}), {1, 0})), "ShapeError",
           "pad: padding is [1] for x f32[1,1,4]; it needs two entries for each axis that is "
           "padded, the last axis first" HERE},
          {"Pooling into no windows", CODE(nn::AdaptiveAvgPool2d{0}(sp::ones({1, 1, 4, 4}))),
           CODE(nn::AdaptiveAvgPool2d{1}(sp::ones({1, 1, 4, 4}))), "ShapeError",
           "AdaptiveAvgPool2d: output_size [0,0] of x f32[1,1,4,4]; windows and the axes that they "
           "are of must not be empty, -1 leaves an axis as it is" HERE},
          {"Channels that do not become pixels", CODE(nn::pixel_shuffle(sp::ones({1, 6, 2, 2}), 2)),
           CODE(nn::pixel_shuffle(sp::ones({1, 8, 2, 2}), 2)), "ShapeError",
           "pixel_shuffle: upscale_factor is 2 for x f32[1,6,2,2]; it must be at least 1 and its "
           "square must divide the channels" HERE},
          {"A size and a factor",
           CODE(nn::interpolate(sp::ones({1, 1, 4, 4}), {.size = 8, .scale_factor = 2})),
           CODE(nn::interpolate(sp::ones({1, 1, 4, 4}), {.scale_factor = 2})), "ValueError",
           "interpolate: give one of size and scale_factor" HERE},
          {"Groups of channels that are not equal", CODE(nn::GroupNorm::init(4, 6)),
           CODE(nn::GroupNorm::init(3, 6)), "ShapeError",
           "GroupNorm::init: 6 channels cannot be cut into 4 equal groups" HERE},
          {"Bags without their offsets",
           CODE(nn::embedding_bag(sp::array({1, 2, 0}), sp::ones({10, 4}))),
           CODE(nn::embedding_bag(sp::array({1, 2, 0}), sp::ones({10, 4}), sp::array({0, 2}))),
           "ShapeError",
           "embedding_bag: the input is i32[3], the offsets are not given; they must be i[n, m] "
           "without offsets, or i[k] with i[n]" HERE},
          {"Gumbel noise without a key", CODE(nn::gumbel_softmax(sp::ones({2, 3}), {.tau = 0.5})),
           CODE(nn::gumbel_softmax(sp::ones({2, 3}), {.tau = 0.5, .key = sp::Key(0)})),
           "ValueError", "gumbel_softmax: needs a key; give one as {.key = key}" HERE},
          {"A pooling window larger than the image",
           CODE(nn::max_pool2d(sp::ones({1, 1, 3, 3}), 4)),
           CODE(nn::max_pool2d(sp::ones({1, 1, 3, 3}), 3)), "ShapeError",
           "max_pool2d: the window [4,4] is larger than the padded input f32[1,1,3,3]" HERE},
          {"Running statistics of another size",
           CODE(nn::batch_norm(sp::ones({4, 3}), sp::zeros({2}), sp::ones({2}))),
           CODE(nn::batch_norm(sp::ones({4, 3}), sp::zeros({3}), sp::ones({3}))), "ShapeError",
           "batch_norm: x is f32[4,3], so running_mean must be f[3]; got f32[2]" HERE},
          {"Statistics of one value",
           CODE(nn::batch_norm(sp::ones({1, 3}), {}, {}, {}, {}, {.training = true})),
           CODE(nn::batch_norm(sp::ones({2, 3}), {}, {}, {}, {}, {.training = true})), "ValueError",
           "batch_norm: training needs more than one value for each channel, got f32[1,3]" HERE},
          {"A norm over axes that the input does not end in",
           CODE(nn::layer_norm(sp::ones({4, 3}), {4})), CODE(nn::layer_norm(sp::ones({4, 3}), {3})),
           "ShapeError", "layer_norm: x f32[4,3] does not end in normalized_shape [4]" HERE},
          {"Dropout without a key", CODE(nn::dropout(sp::ones({4}), {.p = 0.5f})),
           CODE(nn::dropout(sp::ones({4}), {.p = 0.5f, .key = sp::Key(0)})), "ValueError",
           "dropout: training needs a key; give one as {.key = key}, or set .training = "
           "false" HERE},
          {"A layer that draws, in a context without a key",
           CODE(nn::Context ctx{.training = true}; nn::Dropout{.p = 0.5f}(sp::ones({4}), ctx)),
           CODE(nn::Context ctx{.training = true, .key = sp::Key(0)};
                nn::Dropout{.p = 0.5f}(sp::ones({4}), ctx)),
           "ValueError",
           "Dropout: draws random numbers in training, and the context has no key; make it with "
           "Context{.training = true, .key = key}, or give the Module one by seed(key)" HERE},
          {"One mask for all steps of a loop",
           CODE(nn::Context ctx{.training = true, .key = sp::Key(0)};
                sp::map([&](const Array& x) { return nn::Dropout{.p = 0.5f}(x, ctx); },
                        sp::ones({3, 4}))),
           CODE(sp::map(
               [](const sp::Key& key) {
                 nn::Context ctx{.training = true, .key = key};
                 return nn::Dropout{.p = 0.5f}(sp::ones({4}), ctx);
               },
               sp::random::split(sp::Key(0), 3))),
           "ValueError",
           "Dropout: draws random numbers in the body of map, which runs once for all steps, so "
           "that each step would have the same; give each step a key, a slice of split(key, n) or "
           "fold_in(key, i), and make a Context of it in the body; one made there of the whole "
           "key draws the same in each" HERE},
          {"New statistics of a layer in a loop",
           CODE(const nn::BatchNorm norm = nn::BatchNorm::init(2);
                nn::Context ctx{.training = true}; ctx.of(norm);
                sp::fori_loop(
                    0, 3, [&](const Array&, const Array& x) { return norm(x, ctx); },
                    sp::ones({4, 2}));
                ctx.updated(norm)),
           CODE(sp::fori_loop(
               0, 3,
               [](const Array&, const nn::BatchNorm& norm) {
                 nn::Context ctx{.training = true};
                 (void)norm(sp::ones({4, 2}), ctx.of(norm));
                 return ctx.updated(norm);
               },
               nn::BatchNorm::init(2))),
           "TracerError",
           "Context: the new value of the buffer 'running_mean' is a traced value of fori_loop, "
           "which has ended; make the Context inside of it, and let it carry or return the model "
           "that updated() gives" HERE},
          {"A probability above 1", CODE(nn::dropout(sp::ones({4}), {.p = 50, .key = sp::Key(0)})),
           CODE(nn::dropout(sp::ones({4}), {.p = 0.5f, .key = sp::Key(0)})), "ValueError",
           "dropout: p is 50, it must be within 0..1" HERE},
          {"A probability above 1 of a layer in evaluation",
           CODE(nn::Dropout{.p = 50}(sp::ones({4}))), CODE(nn::Dropout{.p = 0.5f}(sp::ones({4}))),
           "ValueError", "Dropout: p is 50, it must be within 0..1" HERE},
          {"A share of new statistics above 1", CODE(nn::BatchNorm::init(3, {.momentum = 10})),
           CODE(nn::BatchNorm::init(3, {.momentum = 0.1})), "ValueError",
           "BatchNorm::init: momentum is 10, it must be within 0..1" HERE},
          {"A negative number under the root",
           CODE(nn::layer_norm(sp::ones({4, 3}), {3}, {}, {}, {.eps = -1e-5})),
           CODE(nn::layer_norm(sp::ones({4, 3}), {3}, {}, {}, {.eps = 1e-5})), "ValueError",
           "layer_norm: eps is -1e-05, it must be finite and not negative" HERE},
          {"Arguments of embedding the other way round",
           CODE(nn::embedding(sp::ones({10, 4}), sp::array({1, 2}))),
           CODE(nn::embedding(sp::array({1, 2}), sp::ones({10, 4}))), "DtypeError",
           "embedding: the input must be integers, got f32[10,4]; the order is embedding(input, "
           "weight)" HERE},
          {"A word beyond the table", CODE(nn::embedding(sp::array({1, 10}), sp::ones({10, 4}))),
           CODE(nn::embedding(sp::array({1, 9}), sp::ones({10, 4}))), "IndexError",
           "embedding: the input holds 10, the table has rows 0..9" HERE},
          {"A table with a negative size", CODE(nn::Embedding::init(sp::Key(0), -1, 4)),
           CODE(nn::Embedding::init(sp::Key(0), 1, 4)), "ShapeError",
           "Embedding::init: shape [-1,4] has the negative size -1 on axis 0" HERE},
          {"Queries and keys of different widths",
           CODE(nn::scaled_dot_product_attention(sp::ones({4, 8}), sp::ones({5, 6}),
                                                 sp::ones({5, 8}))),
           CODE(nn::scaled_dot_product_attention(sp::ones({4, 8}), sp::ones({5, 8}),
                                                 sp::ones({5, 6}))),
           "ShapeError",
           "scaled_dot_product_attention: query f32[4,8], key f32[5,6] and value f32[5,8] do not "
           "fit: they must be f[..., t, d], f[..., s, d] and f[..., s, e]" HERE},
          {"Two masks for attention",
           CODE(const Array x = sp::ones({4, 8}); nn::scaled_dot_product_attention(
                    x, x, x, {.attn_mask = sp::ones({4, 4}), .is_causal = true})),
           CODE(const Array x = sp::ones({4, 8});
                const Array mask = sp::tri(4, {.dtype = sp::bool_});
                nn::scaled_dot_product_attention(x, x, x, {.attn_mask = mask})),
           "ValueError",
           "scaled_dot_product_attention: attn_mask and is_causal exclude each other; put the "
           "causal mask, tri(t, {.columns = s, .dtype = bool_}), into attn_mask" HERE},
          {"Dropout of attention without a key",
           CODE(const Array x = sp::ones({4, 8});
                nn::scaled_dot_product_attention(x, x, x, {.dropout_p = 0.5f})),
           CODE(const Array x = sp::ones({4, 8}); nn::scaled_dot_product_attention(
                    x, x, x, {.dropout_p = 0.5f, .dropout_key = sp::Key(0)})),
           "ValueError",
           "scaled_dot_product_attention: dropout_p needs a key; give one as {.dropout_p = p, "
           ".dropout_key = key}, or leave dropout_p out, as in evaluation" HERE},
          {"A mask of integers for a layer",
           CODE(const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2);
                const Array x = sp::ones({4, 8});
                layer(x, x, x, {.attn_mask = sp::ones({4, 4}, sp::int32)})),
           CODE(const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2);
                const Array x = sp::ones({4, 8});
                layer(x, x, x, {.attn_mask = sp::ones({4, 4}, sp::int32) > 1})),
           "DtypeError",
           "MultiheadAttention: attn_mask must be bool or floating, got i32[4,4]" HERE},
          {"Keys and values of different lengths",
           CODE(const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2);
                layer(sp::ones({4, 1, 8}), sp::ones({5, 1, 8}), sp::ones({6, 1, 8}))),
           CODE(const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2);
                layer(sp::ones({4, 1, 8}), sp::ones({5, 1, 8}), sp::ones({5, 1, 8}))),
           "ShapeError",
           "MultiheadAttention: query f32[4,1,8], key f32[5,1,8] and value f32[6,1,8] do not fit: "
           "all must have one batch size, and key and value one length" HERE},
          {"Queries of another batch",
           CODE(const auto layer =
                    nn::MultiheadAttention::init(sp::Key(0), 8, 2, {.batch_first = true});
                layer(sp::ones({2, 4, 8}), sp::ones({3, 5, 8}), sp::ones({3, 5, 8}))),
           CODE(const auto layer =
                    nn::MultiheadAttention::init(sp::Key(0), 8, 2, {.batch_first = true});
                layer(sp::ones({3, 4, 8}), sp::ones({3, 5, 8}), sp::ones({3, 5, 8}))),
           "ShapeError",
           "MultiheadAttention: query f32[2,4,8], key f32[3,5,8] and value f32[3,5,8] do not fit: "
           "all must have one batch size, and key and value one length" HERE},
          {"An input that does not fit a sequence of layers",
           CODE(const auto net = nn::sequential(nn::dense(3), nn::relu);
                const auto params = net.init(sp::Key(0), sp::ones({5, 4}));
                net(params)(sp::ones({5, 2}))),
           CODE(const auto net = nn::sequential(nn::dense(3), nn::relu);
                const auto params = net.init(sp::Key(0), sp::ones({5, 4}));
                net(params)(sp::ones({5, 4}))),
           "ShapeError",
           "sequential: layer 0 (Linear): linear: x f32[5,2] and weight f32[3,4] do not fit: x "
           "must be f[..., in] and weight f[out, in]" HERE},
          {"A layer in a sequence for another number of features",
           CODE(nn::sequential(nn::dense(3), nn::Linear::init(sp::Key(0), 4, 2))
                    .init(sp::Key(0), sp::ones({5, 4}))),
           CODE(nn::sequential(nn::dense(3), nn::Linear::init(sp::Key(0), 3, 2))
                    .init(sp::Key(0), sp::ones({5, 4}))),
           "ShapeError",
           "sequential: layer 1 (Linear): linear: x f32[5,3] and weight f32[2,4] do not fit: x "
           "must be f[..., in] and weight f[out, in]" HERE},
          {"More elements to prune than there are",
           CODE(nn::prune::l1_unstructured(sp::ones({2, 3}), 7)),
           CODE(nn::prune::l1_unstructured(sp::ones({2, 3}), 0.5)), "ValueError",
           "l1_unstructured: amount is 7, and there are 6 to take from" HERE},
          {"Groups of rows without their ends",
           CODE(nn::grouped_mm(sp::ones({4, 2}), sp::ones({3, 2, 5}))),
           CODE(nn::grouped_mm(sp::ones({4, 2}), sp::ones({3, 2, 5}), sp::array({1, 3, 4}))),
           "ValueError", "grouped_mm: offs are missing, which say where groups end" HERE},
          {"Two names of one axis", CODE(nn::softmax(sp::ones({2, 3}), {.axis = 0, .dim = 1})),
           CODE(nn::softmax(sp::ones({2, 3}), {.axis = 0})), "ValueError",
           "softmax: axis is 0 and dim is 1; they are two names of one option, give one" HERE},
          {"Parameters cast to integers",
           CODE(nn::Precision{.compute = sp::int32}.to_compute(sp::ones({2}))),
           CODE(nn::Precision{.compute = sp::float16}.to_compute(sp::ones({2}))), "DtypeError",
           "Precision: casts to i32; parameters, computation and output are of floating dtypes"},
          {"More steps than a cache has room for",
           CODE(const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2);
                layer.decode(sp::ones({5, 1, 8}), layer.init_cache(1, 4))),
           CODE(const auto layer = nn::MultiheadAttention::init(sp::Key(0), 8, 2);
                layer.decode(sp::ones({5, 1, 8}), layer.init_cache(1, 8))),
           "ValueError",
           "MultiheadAttention::decode: there is no room for 5 more steps in a cache for 4 that "
           "holds 0; make it longer with init_cache" HERE},
          {"A sequence that is longer than its steps",
           CODE(const auto layer = nn::GRU::init(sp::Key(0), 3, 4);
                layer(sp::ones({5, 2, 3}), {}, {.lengths = sp::array({5, 6})})),
           CODE(const auto layer = nn::GRU::init(sp::Key(0), 3, 4);
                layer(sp::ones({5, 2, 3}), {}, {.lengths = sp::array({5, 4})})),
           "ValueError", "GRU: lengths must be within 0..5, the number of steps; got [5 6]" HERE},
          {"A state of another batch",
           CODE(const auto layer = nn::LSTM::init(sp::Key(0), 3, 4, {.batch_first = true});
                const Array h = sp::zeros({1, 5, 4}); layer(sp::ones({2, 5, 3}), {h, h})),
           CODE(const auto layer = nn::LSTM::init(sp::Key(0), 3, 4, {.batch_first = true});
                const Array h = sp::zeros({1, 2, 4}); layer(sp::ones({2, 5, 3}), {h, h})),
           "ShapeError", "LSTM: h of the state must be f[1,2,4], got f32[1,5,4]" HERE},
          {"An initialiser for weights of another rank",
           CODE(nn::Linear::init(sp::Key(0), 3, 4, {.init = {.weight = nn::init::dirac()}})),
           CODE(nn::Linear::init(sp::Key(0), 3, 4, {.init = {.weight = nn::init::eye()}})),
           "ShapeError",
           "Linear::init: the initialiser dirac needs a shape of rank 3 to 5, [out, in, "
           "window...], got [4,3]" HERE},
          {"Heads that do not divide the width",
           CODE(nn::MultiheadAttention::init(sp::Key(0), 10, 4)),
           CODE(nn::MultiheadAttention::init(sp::Key(0), 12, 4)), "ValueError",
           "MultiheadAttention: num_heads is 4, it must divide embed_dim, which is 10" HERE},
          {"New buffers for a copy of the model",
           CODE(const nn::BatchNorm model = nn::BatchNorm::init(3);
                const nn::BatchNorm copy = model; nn::Context ctx{.training = true};
                copy(sp::ones({4, 3}), ctx); ctx.updated(model)),
           CODE(const nn::BatchNorm model = nn::BatchNorm::init(3);
                nn::Context ctx{.training = true}; model(sp::ones({4, 3}), ctx);
                ctx.updated(model)),
           "TreeError",
           "Context::updated: 3 of 3 buffers that layers have updated are not part of this model; "
           "pass the object that was called, not a copy of it, or call it with ctx.of(model); "
           "where one context serves several models, each with ctx.of(that model)" HERE},
          {"Halves of an odd axis", CODE(nn::glu(sp::ones({2, 3}))),
           CODE(nn::glu(sp::ones({2, 4}))), "ShapeError",
           "glu: axis -1 of f32[2,3] has an odd size; it is cut in halves" HERE},
      }};
}

Section loss_mistakes() {
  return {
      "Losses",
      __FILE__,
      {
          {"A class that the input does not have",
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 3}))),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 2}))), "IndexError",
           "cross_entropy: the target holds class 3, the input has classes 0..2" HERE},
          {"Labels for another number of examples",
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1, 2}))),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}))), "ShapeError",
           "cross_entropy: input f32[2,3] needs target i[2], got i32[3]" HERE},
          {"Floating labels", CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0.0f, 1.0f}))),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}))), "ShapeError",
           "cross_entropy: input is f32[2,3], the floating target is f32[2]; it must hold a "
           "probability for each class; convert class indices with astype(target, int32)" HERE},
          {"Floating labels of nll_loss",
           CODE(nn::nll_loss(sp::ones({2, 3}), sp::array({0.0f, 1.0f}))),
           CODE(nn::nll_loss(sp::ones({2, 3}), sp::array({0, 1}))), "DtypeError",
           "nll_loss: class indices must be integers, got target f32[2] for input f32[2,3]; "
           "convert with astype(target, int32)" HERE},
          {"Logits that are integers",
           CODE(nn::cross_entropy(sp::ones({2, 3}, sp::int32), sp::array({0, 1}))),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}))), "DtypeError",
           "cross_entropy: the input must be floating, got i32[2,3]; convert with astype" HERE},
          {"Weights for another number of classes",
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}), {.weight = sp::ones({2})})),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}), {.weight = sp::ones({3})})),
           "ShapeError",
           "cross_entropy: weight is f32[2], it needs one entry for each of 3 classes" HERE},
          {"Label smoothing above 1",
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}), {.label_smoothing = 10})),
           CODE(nn::cross_entropy(sp::ones({2, 3}), sp::array({0, 1}), {.label_smoothing = 0.1})),
           "ValueError", "cross_entropy: label_smoothing is 10, it must be within 0..1" HERE},
          {"Logits for probabilities",
           CODE(nn::binary_cross_entropy(sp::array({2.0f, -1.0f}), sp::array({1.0f, 0.0f}))),
           CODE(nn::binary_cross_entropy(sp::sigmoid(sp::array({2.0f, -1.0f})),
                                         sp::array({1.0f, 0.0f}))),
           "ValueError",
           "binary_cross_entropy: the input f32[2] holds a number that is not within 0..1; it must "
           "be probabilities, or call bce_with_logits for logits" HERE},
          {"A variance below 0",
           CODE(nn::gaussian_nll_loss(sp::ones({2}), sp::ones({2}), sp::array({-1.0f, 1.0f}))),
           CODE(nn::gaussian_nll_loss(sp::ones({2}), sp::ones({2}),
                                      nn::softplus(sp::array({-1.0f, 1.0f})))),
           "ValueError",
           "gaussian_nll_loss: var f32[2] holds a negative number; variances are at least 0, for "
           "instance softplus(x)" HERE},
          {"A sequence longer than its input",
           CODE(nn::ctc_loss(sp::zeros({5, 2, 4}), sp::ones({2, 3}, sp::int32), sp::array({5, 6}),
                             sp::array({3, 2}))),
           CODE(nn::ctc_loss(sp::zeros({5, 2, 4}), sp::ones({2, 3}, sp::int32), sp::array({5, 5}),
                             sp::array({3, 2}))),
           "ValueError", "ctc_loss: input_lengths is [5 6], lengths must be within 0..5" HERE},
          {"A target that would broadcast", CODE(nn::mse_loss(sp::ones({4, 1}), sp::ones({4}))),
           CODE(nn::mse_loss(sp::ones({4, 1}), sp::ones({4, 1}))), "ShapeError",
           "mse_loss: input is f32[4,1], target is f32[4]; they must have one shape (broadcasting "
           "here is nearly always a mistake)" HERE},
          {"Probabilities of another shape",
           CODE(nn::bce_with_logits(sp::ones({4, 1}), sp::ones({4}))),
           CODE(nn::bce_with_logits(sp::ones({4}), sp::ones({4}))), "ShapeError",
           "bce_with_logits: input is f32[4,1], target is f32[4]; they must have one shape "
           "(broadcasting here is nearly always a mistake)" HERE},
      }};
}
