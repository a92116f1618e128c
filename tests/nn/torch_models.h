// SPDX-License-Identifier: Apache-2.0
// The models of make_torch_files.py as modules, with the names that they have there.
#pragma once

#include "spruce/spruce.h"

namespace spruce::nn {

/// Layers one after the other under the places that those with parameters have in an nn.Sequential.
struct Lenet : Module {
  Lenet() {
    conv = register_module("0", Conv2d::init(Key(0), 1, 2, 3));
    hidden = register_module("4", Linear::init(Key(0), 18, 6));
    out = register_module("6", Linear::init(Key(0), 6, 3));
  }
  Array forward(const Array& x) override {
    return out(relu(hidden(flatten(max_pool2d(relu(conv(x)), 2)))));
  }
  Stateful<Conv2d> conv;
  Stateful<Linear> hidden, out;
};

struct Down : Module {
  Down() {
    conv = register_module("0", Conv2d::init(Key(0), 3, 4, 1, {.bias = false}));
    norm = register_module("1", BatchNorm::init(4));
  }
  Array forward(const Array& x) override { return norm(conv(x)); }
  Stateful<Conv2d> conv;
  Stateful<BatchNorm> norm;
};

struct ResidualNet : Module {
  ResidualNet() {
    conv1 = register_module("conv1", Conv2d::init(Key(0), 3, 4, 3, {.padding = 1, .bias = false}));
    bn1 = register_module("bn1", BatchNorm::init(4));
    conv2 = register_module("conv2", Conv2d::init(Key(0), 4, 4, 3, {.padding = 1, .bias = false}));
    bn2 = register_module("bn2", BatchNorm::init(4));
    down = register_module("down", std::make_shared<Down>());
    fc = register_module("fc", Linear::init(Key(0), 4, 2));
  }
  Array forward(const Array& x) override {
    const Array y = bn2(conv2(relu(bn1(conv1(x)))));
    return fc(mean(relu(y + (*down)(x)), {2, 3}));
  }
  Stateful<Conv2d> conv1, conv2;
  Stateful<BatchNorm> bn1, bn2;
  std::shared_ptr<Down> down;
  Stateful<Linear> fc;
};

struct LstmNet : Module {
  LstmNet() {
    rnn =
        register_module("rnn", LSTM::init(Key(0), 3, 4, {.num_layers = 2, .bidirectional = true}));
    out = register_module("out", Linear::init(Key(0), 8, 2));
  }
  Array forward(const Array& x) override { return out(rnn(x).output); }
  Stateful<LSTM> rnn;
  Stateful<Linear> out;
};

struct EncoderLayer : Module {
  EncoderLayer() {
    self_attn =
        register_module("self_attn", MultiheadAttention::init(Key(0), 8, 2, {.batch_first = true}));
    linear1 = register_module("linear1", Linear::init(Key(0), 8, 16));
    linear2 = register_module("linear2", Linear::init(Key(0), 16, 8));
    norm1 = register_module("norm1", LayerNorm::init({8}));
    norm2 = register_module("norm2", LayerNorm::init({8}));
  }
  Array forward(const Array& x) override {
    const Array h = norm1(x + self_attn(x, x, x));
    return norm2(h + linear2(relu(linear1(h))));
  }
  Stateful<MultiheadAttention> self_attn;
  Stateful<Linear> linear1, linear2;
  Stateful<LayerNorm> norm1, norm2;
};

struct GptBlock : Module {
  struct Mlp : Module {
    Mlp() {
      up = register_module("0", Linear::init(Key(0), 8, 16));
      down = register_module("2", Linear::init(Key(0), 16, 8));
    }
    Array forward(const Array& x) override { return down(gelu(up(x))); }
    Stateful<Linear> up, down;
  };
  GptBlock() {
    norm = register_module("norm", LayerNorm::init({8}));
    attn = register_module("attn", MultiheadAttention::init(Key(0), 8, 2, {.batch_first = true}));
    mlp = register_module("mlp", std::make_shared<Mlp>());
  }
  Array forward(const Array& x) override {
    const Array y = norm(x);
    const Array h = x + attn(y, y, y, MultiheadMasks{.is_causal = true});
    return h + (*mlp)(h);
  }
  Stateful<LayerNorm> norm;
  Stateful<MultiheadAttention> attn;
  std::shared_ptr<Mlp> mlp;
};

struct Gpt : Module {
  Gpt() {
    tokens = register_module("tokens", Embedding::init(Key(0), 11, 8));
    blocks = register_module(
        "blocks", ModuleList<GptBlock>{std::make_shared<GptBlock>(), std::make_shared<GptBlock>()});
    head = register_module("head", Linear::init(Key(0), 8, 11, {.bias = false}));
    tie("head.weight", "tokens.weight");
  }
  Array forward(const Array& x) override {
    Array h = tokens(x);
    for (const auto& block : blocks) h = (*block)(h);
    return head(h);
  }
  Stateful<Embedding> tokens;
  ModuleList<GptBlock> blocks;
  Stateful<Linear> head;
};

}  // namespace spruce::nn
