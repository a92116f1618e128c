// SPDX-License-Identifier: Apache-2.0
// Training steps and calls of layers: nets with running statistics, dropout and masks, images that
// become smaller and larger, and inference of one example.
#include "benchmarks/nets.h"

namespace bench {
namespace {

/// A training step of loss(model, context, data...), with new buffers and a new key each time.
template <class Loss, class Optimizer, class Model, class... Data>
Call step_in_context(const Settings& settings, Loss loss, Optimizer optimizer, Model model,
                     Data... data) {
  const auto plain = [loss, optimizer](const Model& m, const auto& state, const sp::Key& key,
                                       const Data&... d) {
    const auto [own, next_key] = sp::random::split<2>(key);
    const auto run = [&](const Model& n) {
      nn::Context ctx{.training = true, .key = own};
      Array value = loss(n, ctx, d...);
      return std::pair{std::move(value), ctx.updated(n)};
    };
    const auto [out, grads] = sp::value_and_grad(run)(m);
    const auto [updates, next] = optimizer.update(grads, state, m);
    return std::tuple{sp::optim::apply_updates(out.second, updates), next, sp::Key(next_key),
                      out.first};
  };
  struct Carry {
    Model model;
    decltype(optimizer.init(model)) state;
    sp::Key key;
  };
  auto carry = std::make_shared<Carry>(Carry{model, optimizer.init(model), sp::Key(1)});
  const MaybeJit<std::remove_const_t<decltype(plain)>> step(settings, plain);
  return {[step, carry, ... data = data] {
            auto [m, s, key, value] =
                step(std::move(carry->model), std::move(carry->state), carry->key, data...);
            *carry = {std::move(m), std::move(s), std::move(key)};
            return std::vector<Array>{value};
          },
          [plain, carry, ... data = data] {
            return sp::make_graph(plain)(carry->model, carry->state, carry->key, data...);
          },
          [step, carry, ... data = data] {
            step.lower(carry->model, carry->state, carry->key, data...);
          }};
}

/// Two convolutions with batch norm, and their input added.
struct ResBlock {
  nn::Conv2d a, b;
  nn::BatchNorm na, nb;
  std::optional<nn::Conv2d> shortcut;

  static ResBlock init(const sp::Key& key, int64_t in, int64_t out, int64_t stride) {
    const sp::Key k = sp::random::split(key, 3);
    ResBlock block{nn::Conv2d::init(k[0], in, out, 3, {.stride = stride, .padding = 1}),
                   nn::Conv2d::init(k[1], out, out, 3, {.padding = 1}),
                   nn::BatchNorm::init(out),
                   nn::BatchNorm::init(out),
                   {}};
    if (stride != 1) block.shortcut = nn::Conv2d::init(k[2], in, out, 1, {.stride = stride});
    return block;
  }
  Array operator()(const Array& x, nn::Context& ctx) const {
    const Array y = nb(b(nn::relu(na(a(x), ctx))), ctx);
    return nn::relu(y + (shortcut ? (*shortcut)(x) : x));
  }
};

/// A residual net over f32[n, 3, 32, 32].
struct ResNet {
  nn::Conv2d stem;
  nn::BatchNorm norm;
  std::vector<ResBlock> blocks;
  nn::Linear head;

  static ResNet init() {
    const sp::Key k = sp::random::split(sp::Key(0), 5);
    return {nn::Conv2d::init(k[0], 3, 32, 3, {.padding = 1}),
            nn::BatchNorm::init(32),
            {ResBlock::init(k[1], 32, 32, 1), ResBlock::init(k[2], 32, 64, 2),
             ResBlock::init(k[3], 64, 128, 2)},
            nn::Linear::init(k[4], 128, 10)};
  }
  Array operator()(const Array& images, nn::Context& ctx) const {
    Array x = nn::relu(norm(stem(images), ctx));
    for (const ResBlock& block : blocks) x = block(x, ctx);
    return head(sp::mean(x, {2, 3}));
  }
};

/// Down twice, up twice by transposed convolutions, with what was there before beside it.
struct UNet {
  nn::Conv2d in, down1, down2, join1, join2;
  nn::ConvTranspose2d up1, up2;

  static UNet init() {
    const sp::Key k = sp::random::split(sp::Key(0), 7);
    const auto conv = [](const sp::Key& key, int64_t from, int64_t to, int64_t stride = 1) {
      return nn::Conv2d::init(key, from, to, 3, {.stride = stride, .padding = 1});
    };
    const auto up = [](const sp::Key& key, int64_t from, int64_t to) {
      return nn::ConvTranspose2d::init(key, from, to, 2, {.stride = 2});
    };
    return {conv(k[0], 1, 16), conv(k[1], 16, 32, 2), conv(k[2], 32, 64, 2), conv(k[3], 64, 32),
            conv(k[4], 32, 1), up(k[5], 64, 32),      up(k[6], 32, 16)};
  }
  Array operator()(const Array& images) const {  // f32[n, 1, h, w] -> the same
    const Array a = nn::relu(in(images)), b = nn::relu(down1(a)), c = nn::relu(down2(b));
    const Array d = nn::relu(join1(sp::concatenate({nn::relu(up1(c)), b}, 1)));
    return join2(sp::concatenate({nn::relu(up2(d)), a}, 1));
  }
};

/// A layer whose linear parts are all Linears, from split(key, 4).
nn::TransformerEncoderLayer encoder_layer(const sp::Key& key, int64_t width, int64_t heads) {
  const sp::Key k = sp::random::split(key, 4);
  nn::TransformerEncoderLayer layer = nn::TransformerEncoderLayer::init(
      key, width, heads, {.dim_feedforward = 4 * width, .batch_first = true, .norm_first = true});
  const nn::Linear in = nn::Linear::init(k[0], width, 3 * width);
  layer.self_attn.in_proj_weight = in.weight;
  layer.self_attn.in_proj_bias = in.bias;
  layer.self_attn.out_proj = nn::Linear::init(k[1], width, width);
  layer.linear1 = nn::Linear::init(k[2], width, 4 * width);
  layer.linear2 = nn::Linear::init(k[3], 4 * width, width);
  return layer;
}

Array bag_of(const Array& table, const Array& ids, const Array& offsets) {
  return nn::embedding_bag(ids, table, offsets);
}

/// The gradient of the sum of squares of f, with respect to its first argument.
template <class F>
auto gradient_of(F f) {
  return sp::grad([f](const auto&... x) { return sp::sum(sp::square(f(x...))); });
}

template <class F, class... Make>
Row row(const std::string& name, F f, Make... make) {
  return {name, [=](const Settings& s) { return call_of(s, f, make()...); }};
}

}  // namespace

std::vector<Row> layer_rows() {
  std::vector<Row> out;
  out.push_back(
      {"resnet", [](const Settings& s) {
         const auto loss = [](const ResNet& net, nn::Context& ctx, const Array& x, const Array& y) {
           return nn::cross_entropy(net(x, ctx), y);
         };
         return step_in_context(s, loss, sp::optim::sgd({.learning_rate = 0.01f}), ResNet::init(),
                                normals({32, 3, 32, 32}), integers(10, {32}));
       }});
  out.push_back({"gru", [](const Settings& s) {
                   const auto [k_input, k_hidden] = sp::random::split<2>(sp::Key(0));
                   const auto input = nn::Linear::init(k_input, 64, 384);
                   const auto hidden = nn::Linear::init(k_hidden, 128, 384);
                   const nn::GRU net{{{input.weight, hidden.weight, input.bias, hidden.bias}}};
                   const auto loss = [](const nn::GRU& p, const Array& x) {
                     return sp::mean(sp::square(p(x).output));
                   };
                   return training_step(s, loss, sp::optim::sgd({.learning_rate = 0.01f}), net,
                                        normals({64, 32, 64}));
                 }});
  out.push_back({"encoder", [](const Settings& s) {
                   const sp::Key k = sp::random::split(sp::Key(0), 2);
                   const nn::TransformerEncoder net{
                       {encoder_layer(k[0], 128, 4), encoder_layer(k[1], 128, 4)}};
                   const auto loss = [](const nn::TransformerEncoder& p, nn::Context& ctx,
                                        const Array& x, const Array& padding) {
                     return sp::mean(sp::square(p(x, ctx, {.src_key_padding_mask = padding})));
                   };
                   const Array lengths = 64 - 3 * sp::arange(16, sp::int32);
                   const Array padding = sp::arange(64, sp::int32) >= sp::expand_dims(lengths, 1);
                   return step_in_context(s, loss, sp::optim::sgd({.learning_rate = 0.01f}), net,
                                          normals({16, 64, 128}), padding);
                 }});
  out.push_back({"unet", [](const Settings& s) {
                   const auto loss = [](const UNet& p, const Array& x) {
                     return nn::mse_loss(p(x), x);
                   };
                   return training_step(s, loss, sp::optim::sgd({.learning_rate = 0.01f}),
                                        UNet::init(), normals({8, 1, 64, 64}));
                 }});
  const auto images = [] { return normals({32, 64, 33, 33}); };
  const auto average = [](const Array& x) { return nn::adaptive_avg_pool2d(x, 7); };
  const auto largest = [](const Array& x) { return nn::adaptive_max_pool2d(x, 7); };
  out.push_back(row("adaptive_avg_pool", average, images));
  out.push_back(row("adaptive_avg_pool_grad", gradient_of(average), images));
  out.push_back(row("adaptive_max_pool", largest, images));
  const auto groups = [](const Array& x) { return nn::group_norm(x, 8); };
  const auto channels = [] { return normals({32, 64, 32, 32}); };
  out.push_back(row("group_norm", groups, channels));
  out.push_back(row(
      "group_norm_grad",
      sp::grad([groups](const Array& x) { return sp::sum(groups(x) * sp::square(x)); }), channels));
  const auto table = [] { return normals({50000, 64}); };
  const auto ids = [] { return sp::random::randint(sp::Key(1), {131072}, 0, 50000); };
  const auto offsets = [] { return 32 * sp::arange(4096, sp::int32); };
  out.push_back(row("embedding_bag", bag_of, table, ids, offsets));
  out.push_back(row("embedding_bag_grad", gradient_of(bag_of), table, ids, offsets));
  const auto twice = [](const Array& x) {
    return nn::interpolate(x, {.scale_factor = 2, .mode = nn::InterpolateMode::kBilinear});
  };
  const auto small = [] { return normals({8, 16, 64, 64}); };
  out.push_back(row("interpolate", twice, small));
  out.push_back(row("interpolate_grad", gradient_of(twice), small));
  out.push_back({"mlp_one", [](const Settings& s) {
                   return call_of(
                       s, [](const Mlp& p, const Array& x) { return p(x, nn::relu); },
                       Mlp::init({784, 512, 512, 10}), normals({1, 784}));
                 }});
  out.push_back({"cnn_one", [](const Settings& s) {
                   return call_of(
                       s, [](const Cnn& p, const Array& x) { return p(x); }, Cnn::init(),
                       normals({1, 3, 32, 32}));
                 }});
  return out;
}

}  // namespace bench
