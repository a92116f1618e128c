// SPDX-License-Identifier: Apache-2.0
// Attention over tiles of keys, and its derivatives, without the matrix of scores (Dao et al.
// 2022).
#pragma once

#include <cstdint>

#include "spruce/core/shape.h"

namespace spruce::cpu {

/// A matrix for each place along the leading axes. Steps are in elements, those of the leading axes
/// are in `lead`; the elements of a row are dense.
template <class T>
struct Matrices {
  T* data = nullptr;
  int64_t row = 0;
  int64_t lead[kMaxRank] = {};
};

/// What attention and its derivatives share. The mask is bool, or T where `mask_adds`.
template <class T>
struct AttentionOperands {
  Shape lead;
  int64_t items, t, s, d, e;
  Matrices<const T> q, k, v;
  T scale;
  bool causal;
  Matrices<const void> mask;
  int64_t mask_column = 0;
  bool mask_adds = false;

  /// Where the matrix of an item begins.
  template <class X>
  int64_t at(const Matrices<X>& m, int64_t item) const {
    int64_t at = 0;
    for (int i = lead.rank() - 1; i >= 0; --i) {
      at += item % lead[i] * m.lead[i];
      item /= lead[i];
    }
    return at;
  }
  /// The keys that the queries before `end` may attend to.
  int64_t keys_of(int64_t end) const { return causal && end < s ? end : s; }
};

template <class T>
struct Attention : AttentionOperands<T> {
  Matrices<T> out;
  T* lse = nullptr;  ///< perhaps: f[items, t], log(sum(exp(scores))), infinite where all is closed
};

template <class T>
struct AttentionGrad : AttentionOperands<T> {
  Matrices<const T> out, ct;  ///< what attention gave, and the cotangent of that
  const T* lse;
  Matrices<T> dq, dk, dv;
};

/// Each query is summed up in an order that depends on the sizes only.
void attention(const Attention<float>& a);
void attention(const Attention<double>& a);

/// Each element of the derivatives is summed up in an order that depends on the sizes only.
void attention_grad(const AttentionGrad<float>& a);
void attention_grad(const AttentionGrad<double>& a);

namespace internal {

/// Scores x of one query and keys `first` to first + n - 1: scaled and masked.
template <class T>
void mask_row(const AttentionOperands<T>& a, int64_t item, int64_t query, int64_t first, T scale,
              T* x, int64_t n);

}  // namespace internal
}  // namespace spruce::cpu
