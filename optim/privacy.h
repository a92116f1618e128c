// SPDX-License-Identifier: Apache-2.0
// Differential privacy: gradients of single examples, clipped, summed and hidden in noise (Abadi et
// al. 2016, https://arxiv.org/abs/1607.00133).
#pragma once

#include "spruce/core/ops/linalg.h"
#include "spruce/core/random/random.h"
#include "spruce/optim/clip.h"
#include "spruce/optim/sgd.h"

namespace spruce::optim {

/// State of differentially_private_aggregate.
struct PrivateAggregateState {
  Key key;  ///< for the next update
};

/// The mean over the examples of a batch of their gradients, each scaled down to a global norm of
/// at most l2_norm_clip, with normal noise on their sum.
struct PrivateAggregate {
  Hyperparam l2_norm_clip = 1;      ///< the largest norm of the gradient of one example
  Hyperparam noise_multiplier = 1;  ///< deviation of the noise over l2_norm_clip
  Key key = Key(0);                 ///< where the noise comes from

  /// The key.
  template <class T>
  PrivateAggregateState init(const T&) const {
    return {key};
  }
  /// {gradients without the first axis, next state}; `grads` has one gradient for each example
  /// along axis 0: vmap(grad(loss), {.in_axes = ...})'s. Throws ShapeError where the leaves do not
  /// agree in that. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, PrivateAggregateState> update(const G& grads, const PrivateAggregateState& state,
                                             const P&, Loc loc = Loc::current()) const {
    const OpScope at("differentially_private_aggregate", loc);
    const std::vector<Array> leaves = internal::trainable_leaves(grads);
    const int64_t batch = batch_of(leaves);
    const Dtype wide = internal::widest_dtype(grads);
    Array squares = 0.0f;
    for (const Array& g : leaves)
      squares = squares + sum(square(astype(reshape(g, {batch, -1}), wide)), 1);
    const Array norms = sqrt(squares);
    const Array share = where(norms > l2_norm_clip.in(norms.dtype()),
                              l2_norm_clip.in(norms.dtype()) / norms, ones_like(norms));
    const Key keys = random::split(state.key, static_cast<int64_t>(leaves.size()) + 1);
    const Hyperparam deviation = l2_norm_clip * noise_multiplier;
    int64_t leaf = 0;
    G updates = map_trainable(
        [&](const Array& g) {
          const Array flat = matmul(astype(share, g.dtype()), reshape(g, {batch, -1}));
          std::vector<int64_t> sizes;
          for (int i = 1; i < g.rank(); ++i) sizes.push_back(g.shape()[i]);
          const Array clipped = reshape(flat, Shape(sizes));
          const Array noise = random::normal(keys[++leaf], clipped.shape(), {.dtype = g.dtype()});
          return (clipped + deviation * noise) / static_cast<double>(batch);
        },
        grads);
    return {std::move(updates), {keys[0]}};
  }

 private:
  static int64_t batch_of(const std::vector<Array>& leaves) {
    int64_t batch = 0;
    for (const Array& g : leaves) {
      if (g.rank() == 0 || g.shape()[0] == 0 || (batch != 0 && g.shape()[0] != batch)) {
        throw ShapeError("differentially_private_aggregate: " + to_string(g.aval()) +
                         " among the gradients; each needs one axis of examples in front, of one "
                         "length for all: vmap the gradient of the loss of one example");
      }
      batch = g.shape()[0];
    }
    return batch;
  }
};
/// The private mean of gradients of single examples, as the first part of chain(). Throws
/// ValueError unless l2_norm_clip is positive and noise_multiplier finite and not negative.
inline PrivateAggregate differentially_private_aggregate(PrivateAggregate o = {},
                                                         Loc loc = Loc::current()) {
  const LocScope at(loc);
  using spruce::internal::Range;
  const char* name = "differentially_private_aggregate";
  o.l2_norm_clip.check(name, "l2_norm_clip", Range::kPositive);
  o.noise_multiplier.check(name, "noise_multiplier", Range::kNotNegative);
  return o;
}

/// Options of dpsgd.
struct DpsgdOptions {
  Schedule learning_rate = 1e-2;    ///< constant, or a function of the number of updates
  Hyperparam l2_norm_clip = 1;      ///< the largest norm of the gradient of one example
  Hyperparam noise_multiplier = 1;  ///< deviation of the noise over l2_norm_clip
  Key key = Key(0);                 ///< where the noise comes from
  Hyperparam momentum = 0;          ///< 0: none
  bool nesterov = false;            ///< Nesterov's form of the momentum
};
/// Gradient descent with differential privacy, for gradients with one axis of examples in front.
/// Throws as its parts.
inline Chain<PrivateAggregate, Sgd> dpsgd(DpsgdOptions o = {}, Loc loc = Loc::current()) {
  const OpScope at("dpsgd", loc);
  return named_chain(
      "dpsgd", differentially_private_aggregate({o.l2_norm_clip, o.noise_multiplier, o.key}),
      sgd({.learning_rate = o.learning_rate, .momentum = o.momentum, .nesterov = o.nesterov}));
}

}  // namespace spruce::optim
