// SPDX-License-Identifier: Apache-2.0
// One network for the embedded digits in three forms: a struct of layers, a factory, a stateful
// module. They begin with the same weights and get the same batches, so that they learn the same;
// the module is also turned into a function. The struct is saved for serve.cc.
//
//   three_ways --epochs 6 --out digits.fn
//
// Exits 0 if all three read 90 of 100 unseen digits and agree with each other.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <cstdio>

#include "arguments.h"

namespace sp = spruce;
namespace nn = spruce::nn;
namespace optim = spruce::optim;
using sp::Array;

namespace {

struct Digits {
  Array x, y;  // f32[n, 64] and i32[n]
};

// 1. A struct: parameters are its fields, and the gradient is a Net.
struct Net {
  nn::Linear hidden, out;
  Array operator()(const Array& x) const { return out(nn::relu(hidden(x))); }
};

// 3. A module: it holds its parameters under names and changes.
struct NetModule : nn::Module {
  explicit NetModule(const Net& net) {
    hidden = register_module("hidden", net.hidden);
    out = register_module("out", net.out);
  }
  Array forward(const Array& x) override { return out(nn::relu(hidden(x))); }
  nn::Stateful<nn::Linear> hidden, out;
};

// A compiled step of any model whose parameters are a tree; apply(params, x) gives the logits.
template <class Apply>
auto step_of(const Apply& apply) {
  return sp::jit([apply](const auto& params, const auto& state, const Digits& batch) {
    const auto loss = [&](const auto& p) { return nn::cross_entropy(apply(p, batch.x), batch.y); };
    const auto [updates, next] =
        optim::adam({.learning_rate = 3e-3}).update(sp::grad(loss)(params), state, params);
    return std::pair{optim::apply_updates(params, updates), next};
  });
}

template <class Params, class Apply>
Params trained(Params params, const Apply& apply, const Digits& set, int64_t epochs) {
  auto state = optim::adam({.learning_rate = 3e-3}).init(params);
  const auto step = step_of(apply);
  const sp::data::BatchesOptions options{
      .batch_size = 64, .rest = sp::data::Rest::kDrop, .epochs = epochs, .key = sp::Key(2)};
  for (const auto& batch : sp::data::batches(set, options))
    std::tie(params, state) = step(std::move(params), std::move(state), batch.examples);
  return params;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t epochs = number_argument(argc, argv, "--epochs", 6);
  const std::string out = text_argument(argc, argv, "--out", "digits.fn");
  const Array table =
      sp::data::load_csv(SPRUCE_EXAMPLE_DATA "/digits.csv", {.header = false}).matrix();
  const Digits all{table[{sp::slice(), sp::slice(64)}] / 16.0f,
                   table[{sp::slice(), 64}].astype(sp::int32)};
  const auto parts = sp::data::split(all, {0.9, 0.1}, sp::Key(1));
  const Digits& unseen = parts[1];

  const auto [k1, k2] = sp::random::split<2>(sp::Key(0));
  const Net start{nn::Linear::init(k1, 64, 64), nn::Linear::init(k2, 64, 10)};
  const auto call = [](const auto& model, const Array& x) { return model(x); };
  const Net net = trained(start, call, parts[0], epochs);

  // 2. A factory: it knows no sizes of inputs and holds no parameters. init() makes them, a tuple;
  // here they are those of the struct.
  const auto factory = nn::sequential(nn::dense(64), nn::relu, nn::dense(10));
  const auto run = [&](const auto& params, const Array& x) {
    nn::Context ctx{.training = true};
    return factory.apply(params, x, ctx);
  };
  const auto made = factory.init(sp::Key(3), parts[0].x);
  const auto tuple =
      trained(sp::tree::unflatten(made, sp::tree::leaves(start)), run, parts[0], epochs);

  NetModule module(start);
  const auto f = nn::functionalize(module);  // the module as a function of its parameters
  const auto apply = [&](const sp::NamedArrays& params, const Array& x) {
    return f.apply(params, f.buffers, {.training = true}, x).first;
  };
  nn::restore(module, trained(f.params, apply, parts[0], epochs), f.buffers);

  const Array logits[] = {net(unseen.x), run(tuple, unseen.x), module(unseen.x)};
  const char* names[] = {"struct", "factory", "module"};
  float least = 1, apart = 0;
  for (int i = 0; i < 3; ++i) {
    const float right = nn::accuracy(logits[i], unseen.y).item<float>();
    std::printf("%-8s right on unseen digits %.3f\n", names[i], right);
    least = std::min(least, right);
    apart = std::max(apart, sp::max(sp::abs(logits[i] - logits[0])).item<float>());
  }
  std::printf(
      "furthest apart %.6f\n%s", apart,
      sp::data::matrix_text(nn::confusion_matrix(sp::argmax(logits[0], -1), unseen.y, 10)).c_str());
  sp::save_function(
      out, [&](const Array& x) { return nn::softmax(net(x)); }, unseen.x);
  std::printf("saved to %s\n", out.c_str());
  return least > 0.9f && apart < 1e-3f ? 0 : 1;
}
