// SPDX-License-Identifier: Apache-2.0
// Shampoo (Gupta et al. 2018, https://arxiv.org/abs/1802.09568): matrices preconditioned from both
// sides. The inverse roots are found by coupled Newton iterations, products of matrices alone (Anil
// et al. 2020, https://arxiv.org/abs/2002.09018).
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Options of inverse_root.
struct InverseRootOptions {
  int64_t iterations = 40;  ///< of Newton's; each is a few products of matrices
};
/// f[n,n] whose p-th power is the inverse of `a`, f[n,n] symmetric and positive definite. The
/// number of iterations that it takes grows with the logarithm of the condition number; forty are
/// enough for 1e8. Throws ShapeError unless `a` is square, DtypeError unless it is floating,
/// ValueError for a p or a number of iterations below 1. Grad: through the iterations.
Array inverse_root(const Array& a, int64_t p, const InverseRootOptions& options = {},
                   Loc loc = Loc::current());

/// State of shampoo: for matrices the sums of g g^T and g^T g, for other arrays the sum of squares
/// and nothing; one entry for each trainable array.
struct ShampooState {
  Array count;               ///< i32[]
  std::vector<Array> left;   ///< f[m,m] for f[m,n], else of the array's shape
  std::vector<Array> right;  ///< f[n,n] for f[m,n], else f[0]
};

/// updates = left^(-1/4) grads right^(-1/4) for matrices, grads / sqrt(sum of squares) for others.
/// What rounding may take from the eigenvalues, finfo(dtype).eps times their sum, is added to the
/// diagonals first: the sums of few gradients are nearly singular.
struct ScaleByShampoo {
  Hyperparam decay = 1;     ///< of the sums; 1: all gradients count alike, as in the paper
  Hyperparam eps = 1e-4;    ///< of the identity that the sums begin with
  int64_t iterations = 40;  ///< see InverseRootOptions
  int64_t max_size = 1024;  ///< matrices with a larger side are treated as other arrays are

  /// Sums of eps times the identity.
  template <class T>
  ShampooState init(const T& params) const {
    return start(internal::trainable_leaves(params));
  }
  /// {updates, next state}. Throws TreeError where the state is of other parameters, ShapeError
  /// where arrays differ in shape. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, ShampooState> update(const G& grads, const ShampooState& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_shampoo", loc);
    check_count("scale_by_shampoo", state.count);
    ShampooState next = state;
    next.count = next_count(state.count);
    const size_t leaves = internal::trainable_leaves(grads).size();
    internal::check_size("scale_by_shampoo", state.left.size(), leaves);
    internal::check_size("scale_by_shampoo", state.right.size(), leaves);
    size_t i = 0;
    G updates = map_trainable(
        [&](const Array& g) {
          Array out = direction(g, next.left[i], next.right[i]);
          ++i;
          return out;
        },
        grads);
    return {std::move(updates), std::move(next)};
  }

 private:
  bool is_matrix(const Array& g) const;
  ShampooState start(const std::vector<Array>& params) const;
  // The preconditioned gradient; the sums become the next ones.
  Array direction(const Array& g, Array& left, Array& right) const;
};
/// Shampoo without a learning rate, as a part of chain(). Throws ValueError unless 0 <= decay <= 1,
/// eps is positive, and the other numbers are at least 1.
ScaleByShampoo scale_by_shampoo(ScaleByShampoo options = {}, Loc loc = Loc::current());

/// Options of shampoo.
struct ShampooOptions {
  Schedule learning_rate = 1e-1;  ///< constant, or a function of the number of updates
  Hyperparam decay = 1;           ///< see ScaleByShampoo
  Hyperparam eps = 1e-4;          ///< see ScaleByShampoo
  int64_t iterations = 40;        ///< see InverseRootOptions
  int64_t max_size = 1024;        ///< see ScaleByShampoo
  Hyperparam weight_decay = 0;    ///< decoupled
  Mask mask = {};                 ///< which parameters decay; empty: all of them
};
/// Shampoo. Throws as its parts.
Chain<ScaleByShampoo, AddDecayedWeights, ScaleByLearningRate> shampoo(ShampooOptions o = {},
                                                                      Loc loc = Loc::current());

}  // namespace spruce::optim
