// SPDX-License-Identifier: Apache-2.0
// Attention over tiles of keys, without the matrix of scores (Dao et al. 2022).
#pragma once

#include <cstdint>

#include "spruce/core/shape.h"

namespace spruce::cpu {

/// `items` dense matrices of each operand. The mask is bool, or T where `mask_adds`; its leading
/// axes have the sizes `lead` and the steps `mask_step`, in elements.
template <class T>
struct Attention {
  int64_t items, t, s, d, e;
  const T *q, *k, *v;
  T* out;
  T scale;
  bool causal;
  const void* mask = nullptr;
  bool mask_adds = false;
  Shape lead;
  int64_t mask_step[kMaxRank] = {};
  int64_t mask_row = 0, mask_column = 0;
};

/// Each query is summed up in an order that depends on the sizes only.
void attention(const Attention<float>& a);
void attention(const Attention<double>& a);

}  // namespace spruce::cpu
