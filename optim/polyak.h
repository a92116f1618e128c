// SPDX-License-Identifier: Apache-2.0
// Steps by Polyak's rule (Loizou et al. 2021, https://arxiv.org/abs/2002.10542).
#pragma once

#include "spruce/optim/clip.h"
#include "spruce/optim/sgd.h"

namespace spruce::optim {

/// updates * min((loss - f_min) / (|updates|^2 + eps), max_learning_rate); 0 where the updates are.
struct ScaleByPolyak {
  Hyperparam max_learning_rate = 1;  ///< the largest factor
  Hyperparam f_min = 0;              ///< the least loss that there can be
  Hyperparam eps = 0;                ///< added to the squared norm
  bool only_down = false;            ///< no step where the loss is below f_min (SPS+)

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {scaled gradients, no state}; `value` is the loss, f[]. Throws ShapeError where the loss is
  /// not of rank 0. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&, const Array& value,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_polyak", loc);
    const Array norm = internal::total([](const Array& g) { return sum(square(g)); }, grads);
    const Hyperparam by(factor(norm, value));
    return {map_trainable([&](const Array& g) { return by * g; }, grads), {}};
  }
  /// Does not compile: the loss is missing.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&) const {
    static_assert(spruce::internal::kNever<G>,
                  "spruce: polyak_sgd needs the loss: update(grads, state, params, loss)");
    return {grads, {}};
  }

 private:
  Array factor(const Array& squared_norm, const Array& value) const;
};
/// Polyak's factor as the last part of a chain. Throws ValueError unless max_learning_rate is
/// positive, f_min finite, and eps finite and not negative.
ScaleByPolyak scale_by_polyak(ScaleByPolyak options = {}, Loc loc = Loc::current());

/// Options of polyak_sgd.
struct PolyakSgdOptions {
  Hyperparam max_learning_rate = 1;  ///< the largest factor
  Schedule scaling = 1;              ///< of the gradients before
  Hyperparam f_min = 0;              ///< the least loss that there can be
  Hyperparam eps = 0;                ///< added to the squared norm
  bool only_down = false;            ///< no step where the loss is below f_min (SPS+)
};
/// Gradient descent by Polyak's rule: polyak_sgd().update(grads, state, params, loss). Throws as
/// scale_by_polyak and sgd.
Chain<Sgd, ScaleByPolyak> polyak_sgd(PolyakSgdOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
