// SPDX-License-Identifier: Apache-2.0
// Noise on gradients (Neelakantan et al. 2015, https://arxiv.org/abs/1511.06807).
#pragma once

#include "spruce/core/random/random.h"
#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of add_noise.
struct AddNoiseState {
  Array count;  ///< i32[]
  Key key;      ///< for the next update
};

/// grads + normal numbers of variance eta / count^gamma.
struct AddNoise {
  Hyperparam eta;    ///< the variance at the first update
  Hyperparam gamma;  ///< how fast it falls
  Key key;           ///< where the numbers come from

  /// Count 0, and the key.
  template <class T>
  AddNoiseState init(const T&) const {
    return {zero_count(), key};
  }
  /// {gradients with noise, next state}. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, AddNoiseState> update(const G& grads, const AddNoiseState& state, const P&,
                                     Loc loc = Loc::current()) const {
    const OpScope at("add_noise", loc);
    check_count("add_noise", state.count);
    const Array count = next_count(state.count);
    const Key keys = random::split(state.key, 2);
    const Key noise = random::split(keys[1], number_of(grads));
    int64_t leaf = 0;
    G updates = map_trainable(
        [&](const Array& g) {
          const Dtype wide = g.dtype() == float64 ? float64 : float32;
          const Array deviation = sqrt(eta.in(wide) / power(astype(count, wide), gamma.in(wide)));
          return g + astype(deviation, g.dtype()) *
                         random::normal(noise[leaf++], g.shape(), {.dtype = g.dtype()});
        },
        grads);
    return {std::move(updates), {count, keys[0]}};
  }

 private:
  // Of trainable leaves, at least 1.
  template <class G>
  static int64_t number_of(const G& grads) {
    int64_t n = 0;
    tree::internal::for_each_leaf(
        grads, [&](const Array& a, tree::Leaf kind) { n += internal::is_trainable(a, kind); });
    return n > 0 ? n : 1;
  }
};
/// Noise as a part of chain(), in front of the optimizer: add_noise(0.01, 0.55, Key(0)). Throws
/// ValueError for an eta or gamma that is negative or not finite.
AddNoise add_noise(Hyperparam eta, Hyperparam gamma, Key key, Loc loc = Loc::current());

/// Options of noisy_sgd.
struct NoisySgdOptions {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam eta = 0.01;          ///< variance of the noise at the first update
  Hyperparam gamma = 0.55;        ///< how fast it falls
  Key key = Key(0);               ///< where the numbers come from
};
/// Gradient descent with noise: add_noise, then the learning rate. Throws ValueError for numbers
/// that are negative or not finite.
Chain<AddNoise, ScaleByLearningRate> noisy_sgd(NoisySgdOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
