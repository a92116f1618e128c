// SPDX-License-Identifier: Apache-2.0
// A learning rate that falls where the loss does no longer.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of reduce_on_plateau.
struct ReduceOnPlateauState {
  Array scale;           ///< f[]: the factor now
  Array best_value;      ///< f[]: the least mean of losses so far
  Array plateau_count;   ///< i32[]: means since then
  Array cooldown_count;  ///< i32[]: means until the next that counts
  Array count;           ///< i32[]: losses in the mean
  Array avg_value;       ///< f[]: the mean of the losses since the last one that was looked at
};

/// updates * scale, where the scale is multiplied by `factor` once the loss has not improved for
/// `patience` times.
struct ReduceOnPlateau {
  Hyperparam factor = 0.1;        ///< of the scale, above 0 and below 1
  int64_t patience = 10;          ///< means without an improvement, until the scale falls
  Hyperparam rtol = 1e-4;         ///< share of the best value by which a better one is below it
  Hyperparam atol = 0;            ///< difference by which a better one is below it
  int64_t cooldown = 0;           ///< means that do not count after the scale fell
  int64_t accumulation_size = 1;  ///< losses that make one mean
  Hyperparam min_scale = 0;       ///< the least scale

  /// A scale of 1; its dtype is the widest of the parameters'.
  template <class T>
  ReduceOnPlateauState init(const T& params) const {
    return start(internal::widest_dtype(params));
  }
  /// {gradients * scale, next state}; `value` is the loss, f[]. Throws ShapeError where the loss is
  /// not of rank 0. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, ReduceOnPlateauState> update(const G& grads, const ReduceOnPlateauState& state,
                                            const P&, const Array& value,
                                            Loc loc = Loc::current()) const {
    const OpScope at("reduce_on_plateau", loc);
    ReduceOnPlateauState after = next(state, value);
    G updates =
        map_trainable([&](const Array& g) { return astype(after.scale, g.dtype()) * g; }, grads);
    return {std::move(updates), std::move(after)};
  }
  /// Does not compile: the loss is missing.
  template <class G, class P>
  std::pair<G, ReduceOnPlateauState> update(const G& grads, const ReduceOnPlateauState& state,
                                            const P&) const {
    static_assert(spruce::internal::kNever<G>,
                  "spruce: reduce_on_plateau needs the loss: update(grads, state, params, loss)");
    return {grads, state};
  }

 private:
  static ReduceOnPlateauState start(Dtype dtype);
  ReduceOnPlateauState next(const ReduceOnPlateauState& state, const Array& value) const;
};
/// The last part of a chain: chain(adam(), reduce_on_plateau()).update(grads, state, params, loss).
/// Throws ValueError for a factor that is not above 0 and below 1, for tolerances, sizes or a scale
/// out of range, and where both tolerances are 0.
ReduceOnPlateau reduce_on_plateau(ReduceOnPlateau options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
