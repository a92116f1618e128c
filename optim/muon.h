// SPDX-License-Identifier: Apache-2.0
// Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon): momentum of matrices, made
// orthogonal by Newton-Schulz iterations.
#pragma once

#include "spruce/optim/adam.h"
#include "spruce/optim/masked.h"

namespace spruce::optim {

/// How a matrix is scaled before the iterations of Muon.
enum class MuonPreconditioning : uint8_t {
  kFrobenius,  ///< by its Frobenius norm
  kAol,        ///< row by row, by the sums of |x x^T| (Prach and Lampert 2022)
  kSchatten    ///< by the root of the Frobenius norm of x x^T
};

/// The coefficients of one Newton-Schulz iteration: a x + b (x x^T) x + c (x x^T)^2 x.
using NewtonSchulzCoefficients = std::array<double, 3>;

/// updates = the mean of gradients, with its singular values made about 1; for matrices f[m,n]
/// alone.
struct ScaleByMuon {
  /// Of each iteration, the last one again where there are more of them.
  std::vector<NewtonSchulzCoefficients> ns_coeffs = {{3.4445, -4.7750, 2.0315}};
  int64_t ns_steps = 5;    ///< number of iterations
  Hyperparam beta = 0.95;  ///< decay of the mean of gradients
  Hyperparam eps = 1e-8;   ///< added to the norm
  bool nesterov = true;    ///< the mean of gradients looks one step ahead
  bool adaptive = false;   ///< multiply by the sum of the products of mean and update
  MuonPreconditioning preconditioning = MuonPreconditioning::kFrobenius;  ///< the scale at first

  /// Count 0 and zeros.
  template <class T>
  MeanState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape or are no matrices, DtypeError where gradients and state do in dtype. The parameters
  /// are not looked at.
  template <class G, class P>
  std::pair<G, MeanState<G>> update(const G& grads, const MeanState<G>& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_muon", loc);
    check_count("scale_by_muon", state.count);
    MeanState<G> next{next_count(state.count), update_moment(grads, state.mu, beta)};
    G updates = map_trainable(
        [&](const Array& g, const Array& m) {
          return direction(internal::unbiased_mean(g, m, beta, next.count, nesterov));
        },
        grads, next.mu);
    return {std::move(updates), std::move(next)};
  }

 private:
  Array direction(const Array& mean) const;
};
/// Muon's direction as a part of chain(); masked() or partition() spares what is no matrix. Throws
/// ValueError for a beta outside of 0 <= beta < 1, an eps that is negative or not finite, a number
/// of steps below 1, and for no coefficients or more than there are steps.
ScaleByMuon scale_by_muon(ScaleByMuon options = {}, Loc loc = Loc::current());

/// updates * sqrt(max(1, m / n)) for matrices f[m,n], the weights f[out, in] of nn::Linear, or with
/// `consistent_rms` updates * sqrt(max(m, n)) * consistent_rms (Liu et al. 2025,
/// https://arxiv.org/abs/2502.16982).
struct ScaleByShape {
  std::optional<Hyperparam> consistent_rms = {};  ///< the root mean square of updates; or none

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {scaled gradients, no state}. Throws ShapeError for arrays that are no matrices.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_shape", loc);
    return {map_trainable([&](const Array& g) { return scaled(g); }, grads), {}};
  }

 private:
  Array scaled(const Array& g) const;
};

/// Options of muon.
struct MuonOptions {
  Schedule learning_rate = 2e-2;  ///< constant, or a function of the number of updates
  /// Of each iteration, the last one again where there are more of them.
  std::vector<NewtonSchulzCoefficients> ns_coeffs = {{3.4445, -4.7750, 2.0315}};
  int64_t ns_steps = 5;         ///< number of iterations
  Hyperparam beta = 0.95;       ///< decay of the mean of gradients
  Hyperparam eps = 1e-8;        ///< added to the norm, and to the root of Adam
  Hyperparam weight_decay = 0;  ///< decoupled weight decay of the matrices
  Mask weight_decay_mask = {};  ///< which matrices decay; empty: all of them
  bool nesterov = true;         ///< the means of gradients look one step ahead
  bool adaptive = false;        ///< multiply by the sum of the products of mean and update
  MuonPreconditioning preconditioning = MuonPreconditioning::kFrobenius;  ///< the scale at first
  Hyperparam adam_b1 = 0.9;                                               ///< b1 of Adam
  Hyperparam adam_b2 = 0.999;                                             ///< b2 of Adam
  Hyperparam adam_eps_root = 0;                                           ///< eps_root of Adam
  Hyperparam adam_weight_decay = 0;                 ///< decoupled weight decay of the others
  std::optional<Schedule> adam_learning_rate = {};  ///< of the others; none: learning_rate
  std::optional<Hyperparam> consistent_rms = {};    ///< see ScaleByShape
  Mask mask = {};  ///< which parameters are Muon's; empty: all matrices
};
/// Muon for matrices and Adam for all other parameters. The mask keeps embeddings and the last
/// layer, for which Adam is better, from Muon. Throws as its parts.
Partition<Chain<ScaleByMuon, ScaleByShape, AddDecayedWeights, ScaleByLearningRate>, Adam> muon(
    MuonOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
