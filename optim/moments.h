// SPDX-License-Identifier: Apache-2.0
// What the optimizers around Adam have in common.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of Adam and its kin: the number of updates and two moments of the parameters' form.
template <class T>
struct AdamState {
  Array count;  ///< i32[]
  T mu;         ///< running mean of the gradients, before the correction of its bias
  T nu;         ///< the same of their squares, or what the optimizer keeps in its place
};

/// State of a running mean of gradients alone.
template <class T>
struct MeanState {
  Array count;  ///< i32[]
  T mu;         ///< running mean of the gradients, before the correction of its bias
};

namespace internal {

// (mu / c1) / (sqrt(nu / c2 + eps_root) + eps), for moments of one type and corrections f[].
Array direction(const Array& mu, const Array& nu, const Array& c1, const Array& c2,
                const Hyperparam& eps, const Hyperparam& eps_root);
// The mean of gradients without its bias; with Nesterov's form (Dozat 2016) that of the next step.
// `count` counts this update.
Array unbiased_mean(const Array& g, const Array& mu, const Hyperparam& decay, const Array& count,
                    bool nesterov);

template <class T>
AdamState<T> zero_moments(const T& params) {
  return {zero_count(), zeros_like_tree(params), zeros_like_tree(params)};
}

// Throws ValueError unless both decays are in 0 <= decay < 1 and both eps finite and not negative.
void check_moments(const char* op, const Hyperparam& b1, const Hyperparam& b2,
                   const Hyperparam& eps, const Hyperparam& eps_root);

}  // namespace internal
}  // namespace spruce::optim
