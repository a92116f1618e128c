// SPDX-License-Identifier: Apache-2.0
// Learning rates from the distance gone: DoG (Ivgi et al. 2023, https://arxiv.org/abs/2302.12022)
// and DoWG (Khaled et al. 2023, https://arxiv.org/abs/2305.16284).
#pragma once

#include "spruce/optim/clip.h"

namespace spruce::optim {

/// What the first step of DoG is made of.
enum class DogInit : uint8_t {
  kHeuristic,    ///< a distance of init_step * (1 + global_norm(params))
  kDistance,     ///< a distance of init_step
  kLearningRate  ///< a learning rate of init_step
};

/// State of scale_by_dog and scale_by_dowg.
template <class T>
struct DogState {
  Array is_init_step;  ///< bool[]
  T init_params;       ///< the first parameters
  Array distance;      ///< f[]: the largest distance to them so far; squared for DoWG
  Array sum;           ///< f[]: of the squared norms of gradients; weighted for DoWG
};

namespace internal {

// The squared norm of a - b over all trainable leaves.
template <class T, class P>
Array squared_distance(const T& a, const P& b) {
  const T gone = map_trainable([](const Array& x, const Array& y) { return x - y; }, a, b);
  return total([](const Array& x) { return sum(square(x)); }, gone);
}

}  // namespace internal

/// updates * distance / sqrt(sum of squared norms of gradients + eps).
struct ScaleByDog {
  DogInit init_type = DogInit::kHeuristic;  ///< what init_step is
  Hyperparam init_step = 1e-6;              ///< for the first step
  Hyperparam eps = 1e-8;                    ///< added under the root

  /// The parameters, and the first distance.
  template <class T>
  DogState<T> init(const T& params) const {
    const Dtype wide = internal::widest_dtype(params);
    Array distance = init_type == DogInit::kLearningRate ? zeros({}, wide) : init_step.in(wide);
    if (init_type == DogInit::kHeuristic)
      distance = distance * (1.0 + astype(global_norm(params), wide));
    return {ones({}, bool_), params, distance, zeros({}, wide)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape.
  template <class G, class P>
  std::pair<G, DogState<G>> update(const G& grads, const DogState<G>& state, const P& params,
                                   Loc loc = Loc::current()) const {
    const OpScope at("scale_by_dog", loc);
    const Dtype wide = state.distance.dtype();
    const auto f = [&](const Array& x) { return astype(x, wide); };
    const Array gone = f(sqrt(internal::squared_distance(state.init_params, params)));
    const Array most = maximum(state.distance, gone);
    const Array sums =
        state.sum + f(internal::total([](const Array& g) { return sum(square(g)); }, grads));
    Array rate = most / sqrt(sums + eps);
    if (init_type == DogInit::kLearningRate)
      rate = where(state.is_init_step, init_step.in(wide), rate);
    const Hyperparam by(rate);
    return {map_trainable([&](const Array& g) { return by * g; }, grads),
            {zeros({}, bool_), state.init_params, most, sums}};
  }
};
/// DoG's factor as a part of chain(). Throws ValueError for numbers that are negative or not
/// finite.
ScaleByDog scale_by_dog(ScaleByDog o = {}, Loc loc = Loc::current());

/// Options of dog.
struct DogOptions {
  Schedule learning_rate = 1;               ///< factor of the steps
  DogInit init_type = DogInit::kHeuristic;  ///< what init_step is
  Hyperparam init_step = 1e-6;              ///< for the first step
  Hyperparam eps = 1e-8;                    ///< added under the root
  Hyperparam weight_decay = 0;              ///< weight_decay * params is added to the gradients
  Mask mask = {};                           ///< which parameters decay; empty: all of them
};
/// Gradient descent by DoG: dog() needs no learning rate. Throws as its parts.
Chain<AddDecayedWeights, ScaleByDog, ScaleByLearningRate> dog(DogOptions o = {},
                                                              Loc loc = Loc::current());

/// updates * d / (sqrt(sum of d times squared norms of gradients) + eps), where d is the squared
/// distance.
struct ScaleByDowg {
  std::optional<Hyperparam> init_estim_sq_dist = {};  ///< the first d; none: eps
  Hyperparam eps = 1e-4;                              ///< added to the root

  /// The parameters, and the first squared distance.
  template <class T>
  DogState<T> init(const T& params) const {
    const Dtype wide = internal::widest_dtype(params);
    return {ones({}, bool_), params, init_estim_sq_dist.value_or(eps).in(wide), zeros({}, wide)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape.
  template <class G, class P>
  std::pair<G, DogState<G>> update(const G& grads, const DogState<G>& state, const P& params,
                                   Loc loc = Loc::current()) const {
    const OpScope at("scale_by_dowg", loc);
    const Dtype wide = state.distance.dtype();
    const auto f = [&](const Array& x) { return astype(x, wide); };
    const Array most =
        maximum(state.distance, f(internal::squared_distance(state.init_params, params)));
    const Array sums =
        state.sum + most * f(internal::total([](const Array& g) { return sum(square(g)); }, grads));
    const Hyperparam by(most / (sqrt(sums) + eps));
    return {map_trainable([&](const Array& g) { return by * g; }, grads),
            {zeros({}, bool_), state.init_params, most, sums}};
  }
};
/// DoWG's factor as a part of chain(). Throws ValueError for numbers that are negative or not
/// finite.
ScaleByDowg scale_by_dowg(ScaleByDowg o = {}, Loc loc = Loc::current());

/// Options of dowg.
struct DowgOptions {
  Schedule learning_rate = 1;                         ///< factor of the steps
  std::optional<Hyperparam> init_estim_sq_dist = {};  ///< the first squared distance; none: eps
  Hyperparam eps = 1e-4;                              ///< added to the root
  Hyperparam weight_decay = 0;  ///< weight_decay * params is added to the gradients
  Mask mask = {};               ///< which parameters decay; empty: all of them
};
/// Gradient descent by DoWG: dowg() needs no learning rate. Throws as its parts.
Chain<AddDecayedWeights, ScaleByDowg, ScaleByLearningRate> dowg(DowgOptions o = {},
                                                                Loc loc = Loc::current());

}  // namespace spruce::optim
