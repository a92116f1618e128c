// SPDX-License-Identifier: Apache-2.0
// Adafactor (Shazeer and Stern 2018, https://arxiv.org/abs/1804.04235): second moments of matrices
// as the product of one number a row and one a column.
#pragma once

#include "spruce/optim/clip.h"
#include "spruce/optim/ema.h"
#include "spruce/optim/trust_ratio.h"

namespace spruce::optim {

/// State of scale_by_factored_rms. For an array whose two longest axes have at least
/// min_dim_size_to_factor elements, v_row and v_col are means over the longest and over the second
/// longest axis, and v is f[1]; for another one v has its shape, and the two are f[1].
template <class T>
struct FactoredState {
  Array count;  ///< i32[]
  T v_row;      ///< running mean of squares over the longest axis, or f[1]
  T v_col;      ///< the same over the second longest, or f[1]
  T v;          ///< running mean of squares, or f[1]
};

/// updates = grads / sqrt(second moment), whose decay is 1 - (count + 1)^-decay_rate.
struct ScaleByFactoredRms {
  bool factored = true;                  ///< false: whole second moments for all arrays
  Hyperparam decay_rate = 0.8;           ///< how fast the means forget less and less
  int64_t step_offset = 0;               ///< updates of an earlier run, not to be counted
  int64_t min_dim_size_to_factor = 128;  ///< shorter axes are not factored
  Hyperparam epsilon = 1e-30;            ///< added to the squared gradients

  /// Count 0 and zeros.
  template <class T>
  FactoredState<T> init(const T& params) const {
    const auto part = [&](size_t i) {
      return map_trainable([&](const Array& p) { return zeros(shapes(p)[i], p.dtype()); },
                           zeros_like_tree(params));
    };
    return {zero_count(), part(0), part(1), part(2)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape or a state is of other options, DtypeError where gradients and state do in dtype. The
  /// parameters are not looked at.
  template <class G, class P>
  std::pair<G, FactoredState<G>> update(const G& grads, const FactoredState<G>& state, const P&,
                                        Loc loc = Loc::current()) const {
    const OpScope at("scale_by_factored_rms", loc);
    check_count("scale_by_factored_rms", state.count);
    const auto part = [&](size_t i, const G& before) {
      return internal::map_any_shape(
          [&](const Array& g, const Array& v) { return next_part(i, g, v, state.count); }, grads,
          before);
    };
    FactoredState<G> next{next_count(state.count), part(0, state.v_row), part(1, state.v_col),
                          part(2, state.v)};
    G updates = internal::map_any_shape([&](const Array& g, const Array& row, const Array& col,
                                            const Array& v) { return scaled(g, row, col, v); },
                                        grads, next.v_row, next.v_col, next.v);
    return {std::move(updates), std::move(next)};
  }

 private:
  // Of v_row, v_col and v.
  std::array<Shape, 3> shapes(const Array& p) const;
  Array next_part(size_t part, const Array& g, const Array& v, const Array& count) const;
  Array scaled(const Array& g, const Array& row, const Array& col, const Array& v) const;
};
/// Factored second moments as a part of chain(). Throws ValueError for numbers that are negative or
/// not finite, and for a min_dim_size_to_factor below 1.
ScaleByFactoredRms scale_by_factored_rms(ScaleByFactoredRms options = {}, Loc loc = Loc::current());

/// Options of adafactor.
struct AdafactorOptions {
  Schedule learning_rate = 1e-2;            ///< relative to the size of the parameters by default
  int64_t min_dim_size_to_factor = 128;     ///< shorter axes are not factored
  Hyperparam decay_rate = 0.8;              ///< how fast the means forget less and less
  int64_t decay_offset = 0;                 ///< updates of an earlier run, not to be counted
  bool multiply_by_parameter_scale = true;  ///< steps relative to the size of each array
  std::optional<Hyperparam> clipping_threshold = Hyperparam(1);  ///< of root mean squares; or none
  Hyperparam momentum = 0;           ///< decay of the mean of updates; 0: none
  Hyperparam weight_decay_rate = 0;  ///< share of the parameters that each update takes off
  Hyperparam eps = 1e-30;            ///< added to the squared gradients
  bool factored = true;              ///< false: whole second moments for all arrays
  Mask weight_decay_mask = {};       ///< which parameters decay; empty: all of them
};

/// State of adafactor.
template <class T>
struct AdafactorState {
  FactoredState<T> factored;        ///< the second moments
  std::optional<EmaState<T>> mean;  ///< of the updates, where there is momentum
};

/// Adafactor: scale_by_factored_rms, clip_by_block_rms, the learning rate, the size of the
/// parameters, momentum, weight decay, as Optax orders them.
class Adafactor {
 public:
  /// Throws ValueError for options out of range.
  Adafactor(AdafactorOptions options, Loc loc);

  /// Zeros, and a mean of updates where there is momentum.
  template <class T>
  AdafactorState<T> init(const T& params) const {
    AdafactorState<T> state{moments_.init(params), std::nullopt};
    if (!options_.momentum.is_zero()) state.mean = Ema{options_.momentum, false}.init(params);
    return state;
  }
  /// {updates, next state}. Throws TreeError where trees differ in form and for a state of other
  /// momentum (none or some), ShapeError where arrays differ in shape, DtypeError where gradients
  /// and state do in dtype.
  template <class G, class P>
  std::pair<G, AdafactorState<G>> update(const G& grads, const AdafactorState<G>& state,
                                         const P& params, Loc loc = Loc::current()) const {
    const OpScope at("adafactor", loc);
    if (state.mean.has_value() == options_.momentum.is_zero()) {
      internal::throw_part("adafactor", "mean of updates", state.mean.has_value(),
                           "momentum is " + options_.momentum.text());
    }
    auto moments = moments_.update(grads, state.factored, params);
    G updates = std::move(moments.first);
    const auto through = [&](const auto& part) {
      updates = part.update(updates, EmptyState{}, params).first;
    };
    if (options_.clipping_threshold) through(ClipByBlockRms{*options_.clipping_threshold});
    through(Scale{options_.learning_rate.rate("adafactor", state.factored.count)});
    if (options_.multiply_by_parameter_scale) through(ScaleByParamBlockRms{});
    AdafactorState<G> next{std::move(moments.second), std::nullopt};
    if (state.mean.has_value()) {
      auto [mean, after] = Ema{options_.momentum, false}.update(updates, *state.mean, params);
      updates = std::move(mean);
      next.mean = std::move(after);
    }
    through(AddDecayedWeights{options_.weight_decay_rate, options_.weight_decay_mask});
    through(Scale{-1});
    return {std::move(updates), std::move(next)};
  }

 private:
  AdafactorOptions options_;
  ScaleByFactoredRms moments_;
};
/// Adafactor: adafactor({.learning_rate = 1e-2}). Throws as Adafactor's constructor.
Adafactor adafactor(AdafactorOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
