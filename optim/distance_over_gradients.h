// SPDX-License-Identifier: Apache-2.0
// Learning rates from the distance gone, for each array by itself (layer-wise DoG, Ivgi et al.
// 2023, https://arxiv.org/abs/2302.12022). dog() has one for all of them.
#pragma once

#include "spruce/optim/trust_ratio.h"

namespace spruce::optim {

/// State of scale_by_distance_over_gradients; the first two trees have one number, f[], for each
/// array.
template <class T>
struct DistanceOverGradientsState {
  T max_dist;             ///< the largest distance to the first parameters so far
  T grad_sum_of_squares;  ///< of all gradients so far
  T init_params;          ///< the first parameters
};

/// updates * global_scale * distance / sqrt(sum of squares of gradients + eps).
struct ScaleByDistanceOverGradients {
  Hyperparam reps_rel = 1e-6;   ///< the first distance is reps_rel * (1 + norm of the array)
  Hyperparam eps = 1e-8;        ///< added under the root
  Hyperparam global_scale = 1;  ///< factor of all updates

  /// The parameters, and the first distances.
  template <class T>
  DistanceOverGradientsState<T> init(const T& params) const {
    return {map_trainable([&](const Array& p) { return first_distance(p); }, params),
            map_trainable(
                [](const Array& p) { return zeros({}, p.dtype() == float64 ? float64 : float32); },
                params),
            params};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape.
  template <class G, class P>
  std::pair<G, DistanceOverGradientsState<G>> update(const G& grads,
                                                     const DistanceOverGradientsState<G>& state,
                                                     const P& params,
                                                     Loc loc = Loc::current()) const {
    const OpScope at("scale_by_distance_over_gradients", loc);
    const P gone = map_trainable([](const Array& a, const Array& b) { return a - b; }, params,
                                 state.init_params);
    G most = internal::map_any_shape(
        [](const Array& d, const Array& before) {
          check("distance", d, before);
          return maximum(before, internal::safe_norm(d, 0));
        },
        gone, state.max_dist);
    G sums = internal::map_any_shape(
        [](const Array& g, const Array& before) {
          check("sum of squares", g, before);
          return before + square(internal::safe_norm(g, 0));
        },
        grads, state.grad_sum_of_squares);
    G updates = internal::map_any_shape(
        [&](const Array& g, const Array& d, const Array& s) {
          return g * astype(global_scale * d / sqrt(s + eps), g.dtype());
        },
        grads, most, sums);
    return {std::move(updates), {std::move(most), std::move(sums), state.init_params}};
  }

 private:
  Array first_distance(const Array& p) const;
  static void check(const char* part, const Array& of, const Array& in_state);
};
/// Layer-wise DoG's factors as a part of chain(), in front of scale(-1) or a learning rate of about
/// 1. Throws ValueError for numbers that are negative or not finite.
ScaleByDistanceOverGradients scale_by_distance_over_gradients(
    ScaleByDistanceOverGradients options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
