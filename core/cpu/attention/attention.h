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
  T* data = nullptr;            ///< the first element of the first matrix; not owned
  int64_t row = 0;              ///< from a row to the next
  int64_t lead[kMaxRank] = {};  ///< along each leading axis; 0 repeats
};

/// What attention and its derivatives share. The mask is bool, or T where `mask_adds`.
template <class T>
struct AttentionOperands {
  Shape lead;  ///< sizes of the leading axes
  /// Matrices (the product of `lead`), queries and keys of each, sizes of a key and of a value.
  int64_t items, t, s, d, e;
  /// Queries [t, d], keys [s, d] and values [s, e] of each item.
  Matrices<const T> q, k, v;
  T scale;                    ///< of the scores
  bool causal;                ///< query i attends to keys 0 to i
  Matrices<const void> mask;  ///< [t, s] of each item; null for none
  int64_t mask_column = 0;    ///< from a key to the next: 1, or 0 for one that all share
  bool mask_adds = false;     ///< added to the scores instead of true where they count

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

/// Attention, and the memory of its results.
template <class T>
struct Attention : AttentionOperands<T> {
  Matrices<T> out;   ///< [t, e] of each item
  T* lse = nullptr;  ///< perhaps: f[items, t], log(sum(exp(scores))), infinite where all is closed
};

/// The derivatives of attention, and the memory for them.
template <class T>
struct AttentionGrad : AttentionOperands<T> {
  Matrices<const T> out, ct;  ///< what attention gave, and the cotangent of that
  const T* lse;               ///< f[items, t], as attention gave it
  /// The cotangents of queries, keys and values, to be written.
  Matrices<T> dq, dk, dv;
};

/// Bytes of workspace that the two below take on the thread that calls them, by the sizes.
template <class T>
size_t attention_workspace(const AttentionOperands<T>& a);
template <class T>
size_t attention_grad_workspace(const AttentionOperands<T>& a);

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
