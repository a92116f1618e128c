// SPDX-License-Identifier: Apache-2.0
// Adam (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980) and AdamW (Loshchilov and Hutter 2019,
// https://arxiv.org/abs/1711.05101).
#pragma once

#include "spruce/core/rules/optimizer.h"
#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Options of adam.
struct AdamOptions {
  Schedule learning_rate = 1e-3f;  ///< constant, or a function of the number of updates
  double b1 = 0.9;                 ///< decay of the mean of gradients
  double b2 = 0.999;               ///< decay of the mean of squared gradients
  double eps = 1e-8;               ///< added to the root, outside of it
  double eps_root = 0;             ///< added under the root
};

/// Options of adamw.
struct AdamWOptions {
  Schedule learning_rate = 1e-3f;  ///< constant, or a function of the number of updates
  double b1 = 0.9;                 ///< decay of the mean of gradients
  double b2 = 0.999;               ///< decay of the mean of squared gradients
  double eps = 1e-8;               ///< added to the root, outside of it
  double eps_root = 0;             ///< added under the root
  double weight_decay = 1e-4;      ///< decoupled: params lose learning_rate * weight_decay * params
};

/// State of Adam: the number of updates and two moments of the parameters' form.
template <class T>
struct AdamState {
  Array count;  ///< i32[]
  T mu;         ///< running mean of the gradients, before the correction of its bias
  T nu;         ///< the same of their squares
};

/// The moments of Adam without a learning rate: updates = mu_hat / (sqrt(nu_hat + eps_root) + eps).
struct ScaleByAdam {
  double b1 = 0.9;      ///< decay of the mean of gradients
  double b2 = 0.999;    ///< decay of the mean of squared gradients
  double eps = 1e-8;    ///< added to the root, outside of it
  double eps_root = 0;  ///< added under the root

  /// Count 0, and moments of zeros with the shapes and dtypes of the parameters.
  template <class T>
  AdamState<T> init(const T& params) const {
    return {internal::zero_count(), internal::zeros_like_tree(params),
            internal::zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and moments do in dtype. The parameters are not looked
  /// at.
  template <class G, class P>
  std::pair<G, AdamState<G>> update(const G& grads, const AdamState<G>& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_adam", loc);
    internal::check_count("scale_by_adam", state.count);
    AdamState<G> next{internal::next_count(state.count), {}, {}};
    next.mu = internal::map_with_state(
        [&](const Array& g, const Array& m) { return scaled_add(g, 1 - b1, m, b1); }, grads,
        state.mu);
    next.nu = internal::map_with_state(
        [&](const Array& g, const Array& v) { return scaled_add(square(g), 1 - b2, v, b2); }, grads,
        state.nu);
    G updates = internal::map_floating(
        [&](const Array& m, const Array& v) {
          return adam_direction(m, v, internal::bias_correction(b1, next.count, m.dtype()),
                                internal::bias_correction(b2, next.count, v.dtype()),
                                {eps, eps_root});
        },
        next.mu, next.nu);
    return {std::move(updates), std::move(next)};
  }
};
/// Adam without a learning rate, as a part of chain(); scale_by_adam({.b2 = 0.95}). Throws
/// ValueError unless 0 <= b1, b2 < 1 and eps and eps_root are finite and not negative.
ScaleByAdam scale_by_adam(ScaleByAdam options = {}, Loc loc = Loc::current());

/// Adam, and AdamW where weight_decay is not 0.
class Adam {
 public:
  /// Keeps the options; there is no state besides that of init(). Throws ValueError, in the name of
  /// `op`, unless 0 <= b1, b2 < 1 and the other numbers are finite and not negative.
  explicit Adam(AdamWOptions options, const char* op = "adamw", Loc loc = Loc::current());

  /// The state before the first update: count 0 and moments of zeros.
  template <class T>
  AdamState<T> init(const T& params) const {
    return moments().init(params);
  }
  /// {updates, next state}; the updates are to be added to the parameters. The schedule sees the
  /// number of updates made before, from 0. Throws TreeError where trees differ in form, ShapeError
  /// where arrays do in shape, DtypeError where gradients and moments do in dtype.
  template <class G, class P>
  std::pair<G, AdamState<G>> update(const G& grads, const AdamState<G>& state, const P& params,
                                    Loc loc = Loc::current()) const {
    const OpScope at(op_, loc);
    auto [updates, next] = moments().update(grads, state, params);
    if (options_.weight_decay != 0) {
      updates =
          AddDecayedWeights{options_.weight_decay}.update(updates, EmptyState{}, params).first;
    }
    updates = ScaleByLearningRate{options_.learning_rate}
                  .update(updates, CountState{state.count}, params)
                  .first;
    return {std::move(updates), std::move(next)};
  }

 private:
  ScaleByAdam moments() const {
    return {options_.b1, options_.b2, options_.eps, options_.eps_root};
  }

  AdamWOptions options_;
  const char* op_;  // a literal
};
/// Adam without weight decay: adam({.learning_rate = 3e-4f}). Throws as Adam's constructor.
inline Adam adam(AdamOptions o = {}, Loc loc = Loc::current()) {
  return Adam({std::move(o.learning_rate), o.b1, o.b2, o.eps, o.eps_root, 0}, "adam", loc);
}
/// Adam with decoupled weight decay on all parameters, by default 1e-4. Throws as Adam's
/// constructor.
inline Adam adamw(AdamWOptions options = {}, Loc loc = Loc::current()) {
  return Adam(std::move(options), "adamw", loc);
}

}  // namespace spruce::optim
