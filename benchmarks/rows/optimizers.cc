// SPDX-License-Identifier: Apache-2.0
// One step of an optimizer over 64 MB of parameters, with gradients that are there already: each
// array is read and written once at best.
#include "benchmarks/bench.h"

namespace bench {
namespace {

using Leaves = std::vector<Array>;

Leaves leaves(const sp::Shape& shape) { return {normals(shape), normals(shape)}; }

// An optimizer without its type, so that the program has one step for all of them.
struct Erased {
  std::function<Leaves(const Leaves& parameters)> init;
  std::function<std::pair<Leaves, Leaves>(const Leaves& parameters, const Leaves& state,
                                          const Leaves& gradients)>
      step;
};

// `more` is what the optimizer is given besides: the loss as a number or as a function.
template <class Optimizer, class... More>
Erased erase(const Optimizer& optimizer, const More&... more) {
  const auto form = optimizer.init(leaves({128, 128}));
  return {[=](const Leaves& p) { return sp::tree::leaves(optimizer.init(p)); },
          [=](const Leaves& p, const Leaves& state, const Leaves& gradients) {
            const auto [updates, next] =
                optimizer.update(gradients, sp::tree::unflatten(form, state), p, more...);
            return std::pair{sp::optim::apply_updates(p, updates), sp::tree::leaves(next)};
          }};
}

Call step_of(const Settings& settings, const Erased& optimizer) {
  auto carry = std::make_shared<std::pair<Leaves, Leaves>>();
  carry->first = leaves({4096, 2048});
  carry->second = optimizer.init(carry->first);
  const MaybeJit<decltype(optimizer.step)> step(settings, optimizer.step);
  const Leaves gradients = leaves({4096, 2048});
  return {[step, carry, gradients] {
            *carry = step(std::move(carry->first), std::move(carry->second), gradients);
            return std::vector<Array>{sp::mean(sp::abs(carry->first[1][0]))};
          },
          [step = optimizer.step, carry, gradients] {
            return sp::make_graph(step)(carry->first, carry->second, gradients);
          },
          [step, carry, gradients] { step.lower(carry->first, carry->second, gradients); }};
}

template <class Make, class... More>
Row row(const std::string& name, Make make, const More&... more) {
  return {name + "_64mb", [=](const Settings& s) { return step_of(s, erase(make(), more...)); }};
}

Array half_sum_of_squares(const Leaves& p) {
  return 0.5f * (sp::sum(sp::square(p[0])) + sp::sum(sp::square(p[1])));
}

}  // namespace

std::vector<Row> optimizer_rows() {
  namespace optim = sp::optim;
  return {
      row("sgd", [] { return optim::sgd({.learning_rate = 1e-3}); }),
      row("momentum", [] { return optim::sgd({.learning_rate = 1e-3, .momentum = 0.9}); }),
      row("adamw", [] { return optim::adamw({.learning_rate = 1e-3}); }),
      row("nadam", [] { return optim::nadam({.learning_rate = 1e-3}); }),
      row("amsgrad", [] { return optim::amsgrad({.learning_rate = 1e-3}); }),
      row("adamax", [] { return optim::adamax({.learning_rate = 1e-3}); }),
      row("radam", [] { return optim::radam({.learning_rate = 1e-3}); }),
      row("rmsprop", [] { return optim::rmsprop({.learning_rate = 1e-3}); }),
      row("adagrad", [] { return optim::adagrad({.learning_rate = 1e-3}); }),
      row("adadelta", [] { return optim::adadelta({.learning_rate = 1e-3}); }),
      row("adafactor", [] { return optim::adafactor({.learning_rate = 1e-3}); }),
      row("adabelief", [] { return optim::adabelief({.learning_rate = 1e-3}); }),
      row("adan", [] { return optim::adan({.learning_rate = 1e-3}); }),
      row("lion", [] { return optim::lion({.learning_rate = 1e-3}); }),
      row("yogi", [] { return optim::yogi({.learning_rate = 1e-3}); }),
      row("novograd", [] { return optim::novograd({.learning_rate = 1e-3}); }),
      row("sign_sgd", [] { return optim::sign_sgd({.learning_rate = 1e-3}); }),
      row("lamb", [] { return optim::lamb({.learning_rate = 1e-3}); }),
      row("lars", [] { return optim::lars({.learning_rate = 1e-3}); }),
      row("sm3", [] { return optim::sm3({.learning_rate = 1e-3}); }),
      row("ademamix", [] { return optim::ademamix({.learning_rate = 1e-3}); }),
      row("adopt", [] { return optim::adopt({.learning_rate = 1e-3}); }),
      row("fromage", [] { return optim::fromage({.learning_rate = 1e-3}); }),
      row("signum", [] { return optim::signum({.learning_rate = 1e-3}); }),
      row("optimistic", [] { return optim::optimistic_gradient_descent({.learning_rate = 1e-3}); }),
      row("madgrad", [] { return optim::madgrad({.learning_rate = 1e-3}); }),
      row("schedule_free", [] { return optim::schedule_free_adamw({.learning_rate = 1e-3}); }),
      row("prodigy", [] { return optim::prodigy({.learning_rate = 1e-3}); }),
      row("cocob", [] { return optim::cocob({.learning_rate = 1e-3}); }),
      row("noisy_sgd", [] { return optim::noisy_sgd({.learning_rate = 1e-3}); }),
      row("acprop", [] { return optim::acprop({.learning_rate = 1e-3}); }),
      row("adamaxw", [] { return optim::adamaxw({.learning_rate = 1e-3}); }),
      row("asgd", [] { return optim::asgd({.learning_rate = 1e-3}); }),
      row("dadapt_adamw", [] { return optim::dadapt_adamw(); }),
      row("dog", [] { return optim::dog(); }),
      row("dowg", [] { return optim::dowg(); }),
      row(
          "momo", [] { return optim::momo(); }, sp::array(1e5f)),
      row(
          "momo_adam", [] { return optim::momo_adam({.learning_rate = 1e-3}); }, sp::array(1e5f)),
      row("nadamw", [] { return optim::nadamw({.learning_rate = 1e-3}); }),
      row("optimistic_adam", [] { return optim::optimistic_adam({.learning_rate = 1e-3}); }),
      row(
          "polyak_sgd", [] { return optim::polyak_sgd(); }, sp::array(1e5f)),
      row("rprop", [] { return optim::rprop({.learning_rate = 1e-3}); }),
      row("schedule_free_sgd", [] { return optim::schedule_free_sgd({.learning_rate = 1e-3}); }),
      row("simplified_ademamix",
          [] { return optim::simplified_ademamix({.learning_rate = 1e-3}); }),
      row(
          "sophia", [] { return optim::sophia({.learning_rate = 1e-3}); }, half_sum_of_squares)};
}

}  // namespace bench
