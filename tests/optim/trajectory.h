// SPDX-License-Identifier: Apache-2.0
// Optimizers along the steps of make_optax_cases.py, against its numbers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spruce/optim/optim.h"
#include "spruce/spruce.h"

namespace spruce::optim {

/// The parameters of the cases: f64[3], f64[] and f64[2,3].
struct Params {
  Array a, b, w;
};

Params start();
/// The gradient at step t, f64[].
Params gradient(const Params& p, const Array& t);
/// Half the sum of squares, f64[].
Array loss(const Params& p);

/// An optimizer without its type, so that one step is compiled for all of them.
struct Erased {
  std::function<std::vector<Array>()> init;
  std::function<std::pair<Params, std::vector<Array>>(
      const Params& grads, const std::vector<Array>& state, const Params& params)>
      update;
};

/// Runs 200 steps eagerly and compiled, and expects the numbers of that case from both, without a
/// second trace.
void expect_trajectory(const std::string& name, const Erased& optimizer);
/// The numbers of a case.
std::vector<double> numbers_of(const std::string& name);

/// What besides gradients and parameters an optimizer is given.
struct Nothing {};

template <class F, class E>
auto with_extra(const F& step, const E& extra, const Params& params) {
  if constexpr (std::is_same_v<E, Nothing>)
    return step();
  else
    return step(extra(params));
}

template <class O, class E = Nothing>
Erased erase(const O& optimizer, const E& extra = {}) {
  const auto form = optimizer.init(start());
  return {[form] { return tree::leaves(form); },
          [=](const Params& grads, const std::vector<Array>& leaves, const Params& params) {
            const auto state = tree::unflatten(form, leaves);
            const auto step = [&](const auto&... more) {
              return optimizer.update(grads, state, params, more...);
            };
            const auto [updates, next] = with_extra(step, extra, params);
            if (!(tree::structure(next) == tree::structure(form)))
              throw TreeError("the state changed its form");
            return std::pair{updates, tree::leaves(next)};
          }};
}

template <class O>
void check(const std::string& name, const O& optimizer) {
  expect_trajectory(name, erase(optimizer));
}
/// The same for optimizers that take the loss.
template <class O>
void check_with_loss(const std::string& name, const O& optimizer) {
  expect_trajectory(name, erase(optimizer, [](const Params& p) { return loss(p); }));
}

/// A predicate that is true of the matrix alone.
inline bool is_matrix(const std::string&, const Array& p) { return p.rank() > 1; }

}  // namespace spruce::optim
