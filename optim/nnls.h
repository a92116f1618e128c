// SPDX-License-Identifier: Apache-2.0
// Least squares with coefficients that are not negative.
#pragma once

#include "spruce/optim/hyperparam.h"

namespace spruce::optim {

/// Options of nnls.
struct NnlsOptions {
  int64_t iterations = 1000;  ///< steps of the projected gradient
  Array lipschitz = {};  ///< f[]: a bound of the largest eigenvalue of transpose(a) a; undefined
                         ///< for the smaller one of its Frobenius and its 1 norm
};
/// The x >= 0 for which |a x - b|^2 is least, by accelerated projected gradient descent (Nesterov
/// 1983) from 0, as Optax does it: f[m, n], f[m] -> f[n], or f[m, n], f[m, k] -> f[n, k]. It works
/// under jit, vmap and grad. Throws ShapeError, DtypeError, and ValueError for a negative number of
/// iterations.
Array nnls(const Array& a, const Array& b, const NnlsOptions& options = {},
           Loc loc = Loc::current());

}  // namespace spruce::optim
