// SPDX-License-Identifier: Apache-2.0
// Steps in proportion to the norm of each array of parameters: LARS (You et al. 2017,
// https://arxiv.org/abs/1708.03888), LAMB (You et al. 2020, https://arxiv.org/abs/1904.00962) and
// Fromage (Bernstein et al. 2020, https://arxiv.org/abs/2002.03432).
#pragma once

#include "spruce/optim/adam.h"
#include "spruce/optim/masked.h"
#include "spruce/optim/sgd.h"

namespace spruce::optim {
namespace internal {

// The norm of x, at least `least`; its derivative is 0 where the norm is not above that.
Array safe_norm(const Array& x, const Hyperparam& least);
// The root of the mean square of x, in the same way.
Array safe_rms(const Array& x, const Hyperparam& least);

}  // namespace internal

/// updates * trust_coefficient * |param| / (|update| + eps) for each array by itself; as they are
/// where one of the norms is 0.
struct ScaleByTrustRatio {
  Hyperparam min_norm = 0;           ///< the least norm of parameters and of updates that counts
  Hyperparam trust_coefficient = 1;  ///< the ratio of the norms of update and parameters
  Hyperparam eps = 0;                ///< added to the norm of the update

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {scaled gradients, no state}. Throws TreeError where trees differ in form, ShapeError where
  /// arrays do in shape.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_trust_ratio", loc);
    return {
        map_trainable([&](const Array& g, const Array& p) { return scaled(g, p); }, grads, params),
        {}};
  }

 private:
  Array scaled(const Array& g, const Array& p) const;
};
/// The trust ratio as a part of chain(), behind the direction of the step. Throws ValueError for
/// numbers that are negative or not finite.
ScaleByTrustRatio scale_by_trust_ratio(ScaleByTrustRatio options = {}, Loc loc = Loc::current());

/// updates * the root mean square of each array of parameters, at least min_scale.
struct ScaleByParamBlockRms {
  Hyperparam min_scale = 1e-3;  ///< the least factor

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {scaled gradients, no state}. Throws TreeError where trees differ in form, ShapeError where
  /// arrays do in shape.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_param_block_rms", loc);
    return {map_trainable([&](const Array& g,
                              const Array& p) { return g * internal::safe_rms(p, min_scale); },
                          grads, params),
            {}};
  }
};
/// Steps relative to the size of the parameters as a part of chain(). Throws ValueError for a
/// number that is negative or not finite.
ScaleByParamBlockRms scale_by_param_block_rms(Hyperparam min_scale = 1e-3,
                                              Loc loc = Loc::current());

/// updates * the norm of each array of parameters, at least min_scale.
struct ScaleByParamBlockNorm {
  Hyperparam min_scale = 1e-3;  ///< the least factor

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {scaled gradients, no state}. Throws TreeError where trees differ in form, ShapeError where
  /// arrays do in shape.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_param_block_norm", loc);
    return {map_trainable(
                [&](const Array& g, const Array& p) {
                  return g * astype(internal::safe_norm(p, min_scale), g.dtype());
                },
                grads, params),
            {}};
  }
};
/// Steps relative to the norms of the parameters as a part of chain(). Throws ValueError for a
/// number that is negative or not finite.
ScaleByParamBlockNorm scale_by_param_block_norm(Hyperparam min_scale = 1e-3,
                                                Loc loc = Loc::current());

/// Options of lars.
struct LarsOptions {
  Schedule learning_rate = 1e-2;        ///< constant, or a function of the number of updates
  Hyperparam weight_decay = 0;          ///< weight_decay * params is added to the gradients
  Mask weight_decay_mask = {};          ///< which parameters decay; empty: all of them
  Hyperparam trust_coefficient = 1e-3;  ///< the ratio of the norms of update and parameters
  Hyperparam eps = 0;                   ///< added to the norm of the gradient
  Mask trust_ratio_mask = {};           ///< which gradients are scaled; empty: all of them
  Hyperparam momentum = 0.9;            ///< share of the trace that an update keeps
  bool nesterov = false;                ///< Nesterov's form of the momentum
};
/// LARS. Throws as its parts.
Chain<AddDecayedWeights, Masked<ScaleByTrustRatio>, ScaleByLearningRate, Trace> lars(
    LarsOptions o = {}, Loc loc = Loc::current());

/// Options of lamb.
struct LambOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-6;          ///< added to the root, outside of it
  Hyperparam eps_root = 0;        ///< added under the root
  Hyperparam weight_decay = 0;    ///< share of the parameters that is added to Adam's updates
  Mask mask = {};                 ///< which parameters decay; empty: all of them
};
/// LAMB. Throws as its parts.
Chain<ScaleByAdam, AddDecayedWeights, ScaleByTrustRatio, ScaleByLearningRate> lamb(
    LambOptions o = {}, Loc loc = Loc::current());

/// params' = (params - rate * |params| / |grads| * grads) / sqrt(1 + rate^2), array by array.
class Fromage {
 public:
  /// Throws ValueError for numbers that are negative or not finite.
  Fromage(Schedule learning_rate, Hyperparam min_norm, Loc loc);

  /// Count 0.
  template <class T>
  CountState init(const T&) const {
    return {zero_count()};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape.
  template <class G, class P>
  std::pair<G, CountState> update(const G& grads, const CountState& state, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("fromage", loc);
    check_count("fromage", state.count);
    const Array rate =
        learning_rate_.rate("fromage", state.count).in(internal::widest_dtype(params));
    const Array shrink = 1.0 / sqrt(1.0 + square(rate));
    const G scaled = trust_.update(grads, EmptyState{}, params).first;
    return {map_trainable(
                [&](const Array& g, const Array& p) {
                  return (Hyperparam(shrink) - 1) * p - Hyperparam(rate * shrink) * g;
                },
                scaled, params),
            {next_count(state.count)}};
  }

 private:
  Schedule learning_rate_;
  ScaleByTrustRatio trust_;
};
/// Options of fromage.
struct FromageOptions {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam min_norm = 1e-6;     ///< the least norm of parameters and of gradients that counts
};
/// Fromage. Throws as Fromage's constructor.
Fromage fromage(FromageOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
