// SPDX-License-Identifier: Apache-2.0
// GaLore (Zhao et al. 2024, https://arxiv.org/abs/2403.03507): Adam whose moments of a matrix live
// in the subspace of a few singular vectors of its gradient, which takes little memory.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// State of scale_by_galore: an entry for each trained array, in their order.
struct GaloreState {
  Array count;               ///< i32[]
  std::vector<Array> basis;  ///< f[rank, shorter side] of a matrix; f[0] for other arrays
  std::vector<Array> mu;     ///< mean of the projected gradients, f[longer side, rank]
  std::vector<Array> nu;     ///< mean of their squares
};

/// For matrices whose sides are both longer than `rank`: the gradient is projected on its first
/// singular vectors along the shorter side, Adam's direction is computed there and brought back,
/// times `scale`. Adam's direction for all other arrays.
///
/// The singular vectors are found by `iterations` of block power iteration from fixed random
/// vectors, instead of a decomposition. They are those of the paper up to signs, which cancel,
/// where the singular values differ; what is missing of the subspace falls with (s[rank] / s[rank -
/// 1])^(2 iterations). As there, moments are kept when the subspace changes.
struct ScaleByGalore {
  int64_t rank = 128;             ///< of the subspace
  int64_t update_proj_gap = 200;  ///< updates between two subspaces
  Hyperparam scale = 0.25;        ///< alpha of the paper: of what is projected
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;          ///< added to the root, outside of it
  int64_t iterations = 10;        ///< of the power iteration

  /// Count 0 and zeros.
  template <class T>
  GaloreState init(const T& params) const {
    return start(internal::trainable_leaves(params));
  }
  /// {updates, next state}. Throws TreeError where the state is of other parameters, ShapeError
  /// where arrays differ in shape. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, GaloreState> update(const G& grads, const GaloreState& state, const P&,
                                   Loc loc = Loc::current()) const {
    const OpScope at("scale_by_galore", loc);
    check_count("scale_by_galore", state.count);
    GaloreState next = state;
    next.count = next_count(state.count);
    const size_t leaves = internal::trainable_leaves(grads).size();
    for (const std::vector<Array>* part : {&state.basis, &state.mu, &state.nu})
      internal::check_size("scale_by_galore", part->size(), leaves);
    size_t i = 0;
    G updates =
        map_trainable([&](const Array& g) { return direction(g, state, next, i++); }, grads);
    return {std::move(updates), std::move(next)};
  }

 private:
  bool is_projected(const Array& g) const;
  GaloreState start(const std::vector<Array>& params) const;
  // Of gradient i; its entries of `next` become those of the next state.
  Array direction(const Array& g, const GaloreState& state, GaloreState& next, size_t i) const;
};
/// GaLore's direction as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1, eps and scale
/// are finite and not negative, and the other numbers are at least 1.
ScaleByGalore scale_by_galore(ScaleByGalore options = {}, Loc loc = Loc::current());

/// Options of galore.
struct GaloreOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  int64_t rank = 128;             ///< see ScaleByGalore
  int64_t update_proj_gap = 200;  ///< see ScaleByGalore
  Hyperparam scale = 0.25;        ///< see ScaleByGalore
  Hyperparam b1 = 0.9;            ///< see ScaleByGalore
  Hyperparam b2 = 0.999;          ///< see ScaleByGalore
  Hyperparam eps = 1e-8;          ///< see ScaleByGalore
  int64_t iterations = 10;        ///< see ScaleByGalore
  Hyperparam weight_decay = 0;    ///< decoupled
  Mask mask = {};                 ///< which parameters decay; empty: all of them
};
/// GaLore with Adam. masked() or partition() gives other arrays, embeddings for example, another
/// optimizer. Throws as its parts.
Chain<ScaleByGalore, AddDecayedWeights, ScaleByLearningRate> galore(GaloreOptions o = {},
                                                                    Loc loc = Loc::current());

}  // namespace spruce::optim
