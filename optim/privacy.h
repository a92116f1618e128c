// SPDX-License-Identifier: Apache-2.0
// Differential privacy: gradients of single examples, clipped, summed and hidden in noise (Abadi et
// al. 2016, https://arxiv.org/abs/1607.00133).
#pragma once

#include <cmath>

#include "spruce/core/ops/reduce.h"
#include "spruce/core/random/random.h"
#include "spruce/optim/clip.h"
#include "spruce/optim/sgd.h"

namespace spruce::optim {

/// What per_example_global_norm_clip and per_example_layer_norm_clip give; a tree.
template <class T, class N>
struct PerExampleClip {
  T sums;         ///< the sum of the clipped gradients over the examples
  N num_clipped;  ///< i32[]: of how many examples gradients were clipped; one for each array, or
                  ///< one
};

namespace internal {

// The length of the axis of examples. Throws ShapeError where the leaves do not agree in it.
int64_t examples_of(const char* op, const std::vector<Array>& leaves);
// Throws ShapeError where there are no examples.
void check_not_empty(const char* op, int64_t examples);
// Elements without those of the axis of examples.
int64_t elements_of_one(const Array& g);
// f[n]: for each example min(1, most / its norm over all leaves), 1 where that is 0.
Array clip_shares(const std::vector<Array>& leaves, const Hyperparam& most);
// The sum over axis 0 by those weights.
Array weighted_sum(const Array& share, const Array& g);

}  // namespace internal

/// The sum over the examples of a batch of their gradients, each scaled down to a global norm of at
/// most l2_norm_clip. `grads` has one gradient for each example along axis 0; for a batch of none
/// the sums are zeros. Throws ShapeError where the leaves do not agree in that, ValueError unless
/// l2_norm_clip is positive.
template <class G>
PerExampleClip<G, Array> per_example_global_norm_clip(const G& grads,
                                                      const Hyperparam& l2_norm_clip,
                                                      Loc loc = Loc::current()) {
  const OpScope at("per_example_global_norm_clip", loc);
  l2_norm_clip.check("per_example_global_norm_clip", "l2_norm_clip",
                     spruce::internal::Range::kPositive);
  const std::vector<Array> leaves = internal::trainable_leaves(grads);
  internal::examples_of("per_example_global_norm_clip", leaves);
  const Array share = internal::clip_shares(leaves, l2_norm_clip);
  return {map_trainable([&](const Array& g) { return internal::weighted_sum(share, g); }, grads),
          count_nonzero(share < 1)};
}

/// The same for each array by itself, such that the global norm is at most global_l2_norm_clip: an
/// array may have the share 1 / sqrt(number of arrays) of it, or where `uniform` is false the root
/// of its share of the elements (McMahan et al. 2018, https://arxiv.org/abs/1710.06963). Throws as
/// per_example_global_norm_clip.
template <class G>
PerExampleClip<G, G> per_example_layer_norm_clip(const G& grads,
                                                 const Hyperparam& global_l2_norm_clip,
                                                 bool uniform = true, Loc loc = Loc::current()) {
  const OpScope at("per_example_layer_norm_clip", loc);
  global_l2_norm_clip.check("per_example_layer_norm_clip", "global_l2_norm_clip",
                            spruce::internal::Range::kPositive);
  const std::vector<Array> leaves = internal::trainable_leaves(grads);
  internal::examples_of("per_example_layer_norm_clip", leaves);
  int64_t elements = 0;
  for (const Array& g : leaves) elements += internal::elements_of_one(g);
  std::vector<Array> shares;  // f[examples], by array
  for (const Array& g : leaves) {
    const double share =
        uniform ? 1.0 / static_cast<double>(leaves.size())
                : static_cast<double>(internal::elements_of_one(g)) / static_cast<double>(elements);
    shares.push_back(
        internal::clip_shares({g}, global_l2_norm_clip * Hyperparam(std::sqrt(share))));
  }
  size_t leaf = 0;
  G sums = map_trainable([&](const Array& g) { return internal::weighted_sum(shares[leaf++], g); },
                         grads);
  leaf = 0;
  G clipped = map_trainable([&](const Array&) { return count_nonzero(shares[leaf++] < 1); }, grads);
  return {std::move(sums), std::move(clipped)};
}

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
  /// agree in that, and for a batch without examples, which has no mean. The parameters are not
  /// looked at.
  template <class G, class P>
  std::pair<G, PrivateAggregateState> update(const G& grads, const PrivateAggregateState& state,
                                             const P&, Loc loc = Loc::current()) const {
    const OpScope at("differentially_private_aggregate", loc);
    const std::vector<Array> leaves = internal::trainable_leaves(grads);
    const int64_t examples = internal::examples_of("differentially_private_aggregate", leaves);
    internal::check_not_empty("differentially_private_aggregate", examples);
    const auto batch = static_cast<double>(examples);
    const Array share = internal::clip_shares(leaves, l2_norm_clip);
    const Key keys = random::split(state.key, static_cast<int64_t>(leaves.size()) + 1);
    const Hyperparam deviation = l2_norm_clip * noise_multiplier;
    int64_t leaf = 0;
    G updates = map_trainable(
        [&](const Array& g) {
          const Array clipped = internal::weighted_sum(share, g);
          const Array noise = random::normal(keys[++leaf], clipped.shape(), {.dtype = g.dtype()});
          return (clipped + deviation * noise) / batch;
        },
        grads);
    return {std::move(updates), {keys[0]}};
  }
};
/// The private mean of gradients of single examples, as the first part of chain(). Throws
/// ValueError unless l2_norm_clip is positive and noise_multiplier finite and not negative.
PrivateAggregate differentially_private_aggregate(PrivateAggregate o = {},
                                                  Loc loc = Loc::current());

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
Chain<PrivateAggregate, Sgd> dpsgd(DpsgdOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
