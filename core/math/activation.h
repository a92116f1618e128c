// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/exp.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/math/log.h"

namespace spruce::math {

/// 1 / (1 + e^-x), also where that is subnormal.
template <class I, Floating T>
SPRUCE_INLINE T logistic(T x) {
  const T e = exp<I, T>(-abs(x));
  return select(x < T(0), e, T(1)) / (T(1) + e);
}

/// log(1 + e^x) without overflow.
template <class I, Floating T>
SPRUCE_INLINE T softplus(T x) {
  return select(x < T(0), T(0), x) + log1p_finite<I, T>(exp<I, T>(-abs(x)));
}

/// log(logistic(x)).
template <class I, Floating T>
SPRUCE_INLINE T log_sigmoid(T x) {
  return -softplus<I, T>(-x);
}

}  // namespace spruce::math
