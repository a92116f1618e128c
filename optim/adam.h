// SPDX-License-Identifier: Apache-2.0
// Adam (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980), AdamW (Loshchilov and Hutter 2019,
// https://arxiv.org/abs/1711.05101) and their forms with Nesterov's momentum (Dozat 2016,
// https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ).
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// Options of adam and nadam.
struct AdamOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;          ///< added to the root, outside of it
  Hyperparam eps_root = 0;        ///< added under the root
  bool nesterov = false;          ///< Nesterov's form of the mean of gradients
};

/// Options of adamw and nadamw.
struct AdamWOptions {
  Schedule learning_rate = 1e-3;   ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;             ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;           ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;           ///< added to the root, outside of it
  Hyperparam eps_root = 0;         ///< added under the root
  Hyperparam weight_decay = 1e-4;  ///< decoupled: params lose learning_rate * weight_decay * params
  Mask mask = {};                  ///< which parameters decay; empty: all of them
  bool nesterov = false;           ///< Nesterov's form of the mean of gradients
};

/// The moments of Adam without a learning rate: updates = mu_hat / (sqrt(nu_hat + eps_root) + eps).
struct ScaleByAdam {
  Hyperparam b1 = 0.9;      ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;    ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;    ///< added to the root, outside of it
  Hyperparam eps_root = 0;  ///< added under the root
  bool nesterov = false;    ///< mu_hat looks one step ahead

  /// Count 0, and moments of zeros with the shapes and dtypes of the parameters.
  template <class T>
  AdamState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params), zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and moments do in dtype. The parameters are not looked
  /// at.
  template <class G, class P>
  std::pair<G, AdamState<G>> update(const G& grads, const AdamState<G>& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_adam", loc);
    check_count("scale_by_adam", state.count);
    AdamState<G> next{next_count(state.count), update_moment(grads, state.mu, b1),
                      update_second_moment(grads, state.nu, b2)};
    G updates = map_trainable(
        [&](const Array& g, const Array& m, const Array& v) {
          const Array c2 = bias_correction(b2, next.count, v.dtype());
          if (!nesterov) {
            return internal::direction(m, v, bias_correction(b1, next.count, m.dtype()), c2, eps,
                                       eps_root);
          }
          const Array mean = internal::unbiased_mean(g, m, b1, next.count, true);
          return internal::direction(mean, v, ones({}, m.dtype()), c2, eps, eps_root);
        },
        grads, next.mu, next.nu);
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
    return moments_.init(params);
  }
  /// {updates, next state}; the updates are to be added to the parameters. The schedule sees the
  /// number of updates made before, from 0. Throws TreeError where trees differ in form, ShapeError
  /// where arrays do in shape, DtypeError where gradients and moments do in dtype.
  template <class G, class P>
  std::pair<G, AdamState<G>> update(const G& grads, const AdamState<G>& state, const P& params,
                                    Loc loc = Loc::current()) const {
    const OpScope at(op_, loc);
    auto [updates, next] = moments_.update(grads, state, params);
    updates = decay_.update(updates, EmptyState{}, params).first;
    updates = rate_.update(updates, CountState{state.count}, params).first;
    return {std::move(updates), std::move(next)};
  }

 private:
  ScaleByAdam moments_;
  AddDecayedWeights decay_;
  ScaleByLearningRate rate_;
  const char* op_;  // a literal
};
/// Adam without weight decay: adam({.learning_rate = 3e-4}). Throws as Adam's constructor.
Adam adam(AdamOptions o = {}, Loc loc = Loc::current());
/// Adam with decoupled weight decay, by default 1e-4 on all parameters. Throws as Adam's
/// constructor.
Adam adamw(AdamWOptions options = {}, Loc loc = Loc::current());
/// Adam with Nesterov's momentum, whatever the option says. Throws as Adam's constructor.
Adam nadam(AdamOptions o = {}, Loc loc = Loc::current());
/// AdamW with Nesterov's momentum, whatever the option says. Throws as Adam's constructor.
Adam nadamw(AdamWOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
