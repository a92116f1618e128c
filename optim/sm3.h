// SPDX-License-Identifier: Apache-2.0
// SM3 (Anil et al. 2019, https://arxiv.org/abs/1901.11150): Adagrad whose sums of squares are kept
// for rows, columns and the like, and not for elements.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of sm3.
template <class T>
struct Sm3State {
  std::vector<std::vector<Array>> mu;  ///< of each trainable array, for each axis: f[its size]
  T nu;                                ///< running mean of the scaled gradients
};

/// updates = the running mean of grads / sqrt(sums of squares), the sum of an element being at most
/// that of its row, its column, ...
struct ScaleBySm3 {
  Hyperparam b1 = 0.9;    ///< decay of the mean
  Hyperparam b2 = 1;      ///< decay of the squares; 1: they are added up
  Hyperparam eps = 1e-8;  ///< added to the sums

  /// Zeros; numbers of rank 0 count as vectors of one element.
  template <class T>
  Sm3State<T> init(const T& params) const {
    return {start(internal::trainable_leaves(params)), zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, Sm3State<G>> update(const G& grads, const Sm3State<G>& state, const P&,
                                   Loc loc = Loc::current()) const {
    const OpScope at("scale_by_sm3", loc);
    internal::check_size("scale_by_sm3", state.mu.size(), internal::trainable_leaves(grads).size());
    Sm3State<G> next{state.mu, {}};
    size_t i = 0;
    const G scaled =
        map_trainable([&](const Array& g) { return direction(g, next.mu[i++]); }, grads);
    next.nu = update_moment(scaled, state.nu, b1);
    G updates = next.nu;
    return {std::move(updates), std::move(next)};
  }

 private:
  static std::vector<std::vector<Array>> start(const std::vector<Array>& params);
  // The scaled gradient; `mu` becomes the next one.
  Array direction(const Array& g, std::vector<Array>& mu) const;
};
/// SM3 without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1 < 1, 0 <= b2
/// <= 1 and eps is finite and not negative.
ScaleBySm3 scale_by_sm3(ScaleBySm3 options = {}, Loc loc = Loc::current());

/// Options of sm3.
struct Sm3Options {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam momentum = 0.9;      ///< decay of the mean of scaled gradients
};
/// SM3. Throws as its parts.
Chain<ScaleBySm3, ScaleByLearningRate> sm3(Sm3Options o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
