// SPDX-License-Identifier: Apache-2.0
// The networks of the rows without layers: structs of arrays, products, convolutions and windows of
// core, functions for the rest. A row computes what the one without "_by_hand" does.
#include "benchmarks/nets.h"

namespace bench {
namespace {

/// x w + b over the last axis.
struct Affine {
  Array w;  ///< f32[in, out]
  Array b;  ///< f32[out]

  Array operator()(const Array& x) const { return sp::matmul(x, w) + b; }
};
Affine by_hand(const nn::Linear& l) { return {sp::transpose(l.weight), *l.bias}; }

/// A convolution of f32[n, in, h, w].
struct Kernels {
  Array w;  ///< f32[out, in, k, k]
  Array b;  ///< f32[out, 1, 1]

  Array operator()(const Array& x, int64_t padding) const {
    return sp::conv_general(
               x, w, {.padding_low = {padding, padding}, .padding_high = {padding, padding}}) +
           b;
  }
};
Kernels by_hand(const nn::Conv2d& c) { return {c.weight, c.bias->reshape({-1, 1, 1})}; }

/// The largest of each two by two.
Array halved(const Array& x) {
  return sp::reduce_window_max(x, {.window = {1, 1, 2, 2}, .strides = {1, 1, 2, 2}});
}

struct HandLeNet {
  Kernels a, b;
  Affine c, d, e;

  static HandLeNet init() {
    const LeNet n = LeNet::init();
    return {by_hand(n.a), by_hand(n.b), by_hand(n.c), by_hand(n.d), by_hand(n.e)};
  }
  Array operator()(const Array& x) const {
    const Array y = halved(nn::relu(b(halved(nn::relu(a(x, 2))), 0)));
    return e(nn::relu(d(nn::relu(c(sp::reshape(y, {y.shape(0), 400}))))));
  }
};

struct HandCnn {
  Kernels a, b;
  Affine c;

  static HandCnn init() {
    const Cnn n = Cnn::init();
    return {by_hand(n.a), by_hand(n.b), by_hand(n.c)};
  }
  Array operator()(const Array& x) const {
    return c(sp::mean(nn::relu(b(halved(nn::relu(a(x, 1))), 1)), {2, 3}));
  }
};

struct HandLstm {
  Affine input;   ///< from 64 to the four gates of 128
  Affine hidden;  ///< from 128

  /// f32[t, n, 64] -> f32[t, n, 128]
  Array operator()(const Array& x) const {
    using State = std::pair<Array, Array>;
    const auto cell = [this](const State& state, const Array& x) {
      const std::vector<Array> gates = sp::split(input(x) + hidden(state.first), 4, -1);
      const Array c =
          nn::sigmoid(gates[1]) * state.second + nn::sigmoid(gates[0]) * sp::tanh(gates[2]);
      const Array h = nn::sigmoid(gates[3]) * sp::tanh(c);
      return std::pair{State{h, c}, h};
    };
    const Array start = sp::zeros({x.shape(1), 128});
    return sp::scan(cell, State{start, start}, x).second;
  }
};

/// Weight and bias of a layer norm over the last axis.
struct Scale {
  Array w, b;  ///< f32[d]

  Array operator()(const Array& x) const { return nn::layer_norm(x, w.shape(), w, b); }
};
Scale by_hand(const nn::LayerNorm& n) { return {*n.weight, *n.bias}; }

struct HandBlock {
  Scale ln1, ln2;
  Affine qkv, o, up, down;

  Array operator()(const Array& x, int64_t heads) const {
    const int64_t n = x.shape(0), t = x.shape(1), d = x.shape(2);
    std::vector<Array> parts = sp::split(qkv(ln1(x)), 3, -1);
    for (Array& part : parts)
      part = sp::transpose(sp::reshape(part, {n, t, heads, d / heads}), {0, 2, 1, 3});
    const Array mixed =
        nn::scaled_dot_product_attention(parts[0], parts[1], parts[2], {.is_causal = true});
    const Array y = x + o(sp::reshape(sp::transpose(mixed, {0, 2, 1, 3}), {n, t, d}));
    return y + down(nn::gelu(up(ln2(y)), {.approximate = nn::GeluApproximation::kTanh}));
  }
};
HandBlock by_hand(const Block& b) {
  return {by_hand(b.ln1), by_hand(b.ln2), by_hand(b.qkv),
          by_hand(b.o),   by_hand(b.up),  by_hand(b.down)};
}

struct HandGpt {
  Array tok;  ///< f32[65, 128]
  Array pos;  ///< f32[128, 128]
  std::vector<HandBlock> blocks;
  Scale ln;
  Affine out;

  static HandGpt init() {
    const Gpt n = Gpt::init();
    HandGpt net{n.tok.weight, n.pos, {}, by_hand(n.ln), by_hand(n.out)};
    for (const Block& block : n.blocks) net.blocks.push_back(by_hand(block));
    return net;
  }
  Array operator()(const Array& letters) const {
    Array h = sp::take(tok, letters, 0) + pos;
    for (const HandBlock& block : blocks) h = block(h, 4);
    return out(ln(h));
  }
};

template <class Net>
Array classes_loss(const Net& net, const Array& x, const Array& y) {
  return nn::cross_entropy(net(x), y);
}

Call lenet(const Settings& s) {
  return training_step(s, classes_loss<HandLeNet>, sp::optim::sgd({.learning_rate = 0.01f}),
                       HandLeNet::init(), normals({64, 1, 28, 28}), integers(10, {64}));
}

Call cnn64(const Settings& s) {
  return training_step(s, classes_loss<HandCnn>, sp::optim::adam({.learning_rate = 1e-3f}),
                       HandCnn::init(), normals({32, 3, 32, 32}), integers(10, {32}));
}

Call lstm(const Settings& s) {
  const auto [k_input, k_hidden] = sp::random::split<2>(sp::Key(0));
  const HandLstm net{by_hand(nn::Linear::init(k_input, 64, 512)),
                     by_hand(nn::Linear::init(k_hidden, 128, 512))};
  const auto loss = [](const HandLstm& p, const Array& x) { return sp::mean(sp::square(p(x))); };
  return training_step(s, loss, sp::optim::sgd({.learning_rate = 0.01f}), net,
                       normals({64, 32, 64}));
}

Call transformer(const Settings& s) {
  const auto loss = [](const HandBlock& p, const Array& x) {
    return sp::mean(sp::square(p(x, 8)));
  };
  return training_step(s, loss, sp::optim::sgd({.learning_rate = 0.01f}),
                       by_hand(Block::init(sp::Key(0), 256)), normals({8, 128, 256}));
}

Call gpt(const Settings& s) {
  const auto loss = [](const HandGpt& p, const Array& x, const Array& y) {
    return nn::cross_entropy(sp::reshape(p(x), {-1, 65}), sp::ravel(y));
  };
  const Array letters = integers(65, {16, 128});
  return training_step(s, loss, sp::optim::adamw({.learning_rate = 1e-3f}), HandGpt::init(),
                       letters, letters);
}

Call per_example(const Settings& s) {
  const auto loss = [](const HandLeNet& p, const Array& x, const Array& y) {
    return nn::cross_entropy(p(sp::expand_dims(x, 0)), sp::expand_dims(y, 0));
  };
  return call_of(s, sp::vmap(sp::grad(loss), {.in_axes = {sp::none, 0, 0}}), HandLeNet::init(),
                 normals({64, 1, 28, 28}), integers(10, {64}));
}

}  // namespace

std::vector<Row> by_hand_rows() {
  return {{"lenet_by_hand", lenet}, {"cnn64_by_hand", cnn64},
          {"lstm_by_hand", lstm},   {"transformer_by_hand", transformer},
          {"gpt_by_hand", gpt},     {"per_example_by_hand", per_example}};
}

}  // namespace bench
