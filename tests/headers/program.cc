// SPDX-License-Identifier: Apache-2.0
// What a user writes, so that the templates of our headers are there to be warned of.
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <iostream>
#include <map>
#include <optional>

namespace sp = spruce;
namespace nn = spruce::nn;
namespace optim = spruce::optim;
using sp::Array;

namespace {

struct Block {
  nn::Linear in;
  std::optional<nn::LayerNorm> norm;
  std::vector<nn::Linear> rest;
  std::map<std::string, Array> more;
  sp::Buffer seen;
  sp::Key key;
  float slope = 0.1f;

  Array operator()(const Array& x) const {
    Array y = nn::elu(in(x));
    for (const nn::Linear& layer : rest) y = y + slope * layer(y);
    return norm.has_value() ? (*norm)(y) : y;
  }
};

Block make_block() {
  const auto [k1, k2, k3] = sp::random::split<3>(sp::Key(0));
  return {nn::Linear::init(k1, 4, 4), nn::LayerNorm::init({4}), {nn::Linear::init(k2, 4, 4)},
          {{"bias", sp::zeros({4})}}, sp::Buffer{sp::array(0)}, k3};
}

struct Net : nn::Module {
  nn::Stateful<nn::Linear> first = register_module("first", nn::Linear::init(sp::Key(0), 4, 4));
  Array forward(const Array& x) override { return nn::relu(first(x)); }
};

void differentiate(const Block& block, const Array& x) {
  const auto loss = [](const Block& b, const Array& in) { return sp::mean(sp::square(b(in))); };
  (void)sp::grad(loss)(block, x);
  (void)sp::value_and_grad(loss)(block, x);
  (void)sp::value_and_grad<1>(loss)(block, x);
  (void)sp::jvp([](const Array& v) { return sp::sin(v); }, std::tuple{x}, std::tuple{x});
  (void)sp::vjp([](const Array& v) { return sp::sin(v); }, x);
  (void)sp::linearize([](const Array& v) { return sp::sin(v); }, x);
  (void)sp::hessian([](const Array& v) { return sp::sum(v * v * v); })(x);
  (void)sp::jacrev(sp::sin)(x);
  (void)sp::jacfwd(sp::sin)(x);
  (void)sp::checkpoint(loss)(block, x);
  (void)sp::stop_gradient(block);
  const auto raveled = sp::tree::ravel(block);
  (void)raveled.unravel(raveled.flat);
}

void control(const Array& x) {
  const auto twice = [](const Array& v) { return 2.0f * v; };
  (void)sp::cond(sp::any(x > 0.0f), twice, sp::negative, x);
  (void)sp::switch_(1, std::tuple{twice, sp::negative}, x);
  (void)sp::while_loop([](const Array& v) { return sp::all(v < 9.0f); }, twice, x);
  (void)sp::fori_loop(
      0, 3, [](const Array&, const Array& v) { return v; }, x);
  (void)sp::scan(
      [](const Array& c, const Array& v) {
        return std::pair{c + v, c};
      },
      Array(0.0f), x);
  (void)sp::associative_scan(sp::add, x);
  (void)sp::map(twice, x);
}

void train(Block block, const Array& x) {
  const auto adam = optim::adamw({.learning_rate = 1e-3f});
  auto state = adam.init(block);
  const auto step = sp::jit([=](const Block& b, const decltype(state)& s, const Array& in) {
    const auto g = sp::grad([&](const Block& p) { return sp::mean(p(in)); })(b);
    const auto [updates, next] = adam.update(g, s, b);
    return std::pair{optim::apply_updates(b, updates), next};
  });
  std::tie(block, state) = step(std::move(block), std::move(state), x);
  (void)sp::vmap([](const Block& b, const Array& in) { return b(in); }, {sp::none, 0})(block, x);
  sp::io::save_tree("block.safetensors", block);
  block = sp::io::load_tree("block.safetensors", block);
  sp::save_function(
      "block.spruce", [](const Block& b, const Array& in) { return b(in); }, block, x);
}

template <class Optimizer, class... More>
void update(const Optimizer& optimizer, const Block& block, const More&... more) {
  auto state = optimizer.init(block);
  std::tie(std::ignore, state) = optimizer.update(block, state, block, more...);
}

void optimize(const Block& block) {
  const auto mask = [](const std::string&, const Array& p) { return p.rank() > 1; };
  const auto label = [](const std::string& path, const Array&) { return path.substr(0, 2); };
  const auto make = [](const optim::Hyperparams& h) { return optim::sgd({.momentum = h["m"]}); };
  update(optim::chain(optim::masked(optim::clip(1), mask), optim::adan(), optim::freeze(mask)),
         block);
  update(optim::partition(label, std::pair{"in", optim::muon()}, std::pair{"re", optim::lamb()}),
         block);
  update(optim::multi_steps(optim::apply_if_finite(optim::adafactor(), 3), 2), block);
  update(optim::inject_hyperparams(make, {{"m", 0.5}}), block);
  update(optim::lookahead(optim::prodigy()), block);
  update(optim::schedule_free_adamw(), block);
  update(optim::sam(optim::novograd(), optim::sign_sgd()), block);
  update(optim::chain(optim::noisy_sgd(), optim::reduce_on_plateau()), block, Array(1.0f));
  update(optim::sophia(), block, [](const Block& b) { return sp::sum(b.in.weight); });
  update(optim::chain(optim::dog(), optim::fromage(), optim::adopt(), optim::rprop()), block);
  update(optim::chain(optim::sm3(), optim::shampoo(), optim::scale_by_lbfgs()), block);
  update(optim::mechanize(optim::momo_adam()), block, Array(1.0f));
  const auto objective = [](const Block& b) { return sp::sum(b.in.weight); };
  update(optim::lbfgs(), block, objective);
  (void)sp::minimize(objective, block, {.max_steps = 3});
}

void load(const Block& block, const Array& x) {
  namespace data = spruce::data;
  const std::pair<Array, Array> set{x, x};
  for (const auto& batch : data::batches(set, {.batch_size = 2, .prefetch = 1}))
    (void)data::collate({batch.examples.first, batch.examples.second});
  const auto rows = [&](std::span<const int64_t> i) { return data::take_examples(set, i); };
  for (const auto& batch : data::batches_by(rows, data::in_order(2), {})) (void)batch.mask;
  (void)data::stack_examples(data::split(set, {0.5, 0.5}, sp::Key(0)));
  (void)sp::vmap([](const sp::Key& k, const Array& image) {
    return data::random_crop(k, data::random_flip(k, image), {.padding = 1});
  })(sp::random::split(sp::Key(0), 2), sp::ones({2, 4, 4, 3}));
  sp::io::Checkpoints checkpoints("checkpoints");
  checkpoints.save(1, block);
  if (const auto last = checkpoints.restore(block)) (void)last->step;
}

}  // namespace

int main() {
  const Block block = make_block();
  const Array x = sp::ones({2, 4});
  differentiate(block, x);
  control(x);
  train(block, x);
  optimize(block);
  load(block, x);
  Net net;
  const auto [apply, params, buffers] = nn::functionalize(net);
  const auto factory = nn::sequential(nn::dense(8), nn::relu, nn::Linear::init(sp::Key(0), 8, 3));
  const auto model = factory(factory.init(sp::Key(0), x));
  float total = 0;
  for (const float v : model(x).data<float>()) total += v;
  std::cout << total << x[{0, sp::slice(1, sp::none)}] << sp::to_string(x.shape()) << "\n";
  (void)sp::tree::map_with_path([](const std::string&, const Array& a) { return a; }, block);
  const auto halves = nn::mixed([](const Block& b, const Array& in) { return b(in); })(block, x);
  std::cout << sp::roll(halves, 1, 0) << sp::tree::to_string(block);
}
