// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/contraction.h"

#include <algorithm>

namespace spruce::cpu {
namespace {

using Loop = Contraction::Loop;

constexpr int64_t kTall = 16;  // rows that are enough for a product

// Axes in the order of the result, those that step evenly in all arrays merged.
struct Group {
  Loop axes[kMaxRank];
  int count = 0;

  void add(const Loop& l) {
    if (l.size == 1) return;
    if (count > 0) {
      Loop& outer = axes[count - 1];
      if (outer.a == l.a * l.size && outer.b == l.b * l.size && outer.c == l.c * l.size) {
        outer = {outer.size * l.size, l.a, l.b, l.c};
        return;
      }
    }
    axes[count++] = l;
  }
  // Takes out an axis, or one element where there is none.
  Loop take(int i) {
    if (count == 0) return {1, 1, 1, 1};
    const Loop l = axes[i];
    std::copy(axes + i + 1, axes + count, axes + i);
    --count;
    return l;
  }
};

}  // namespace

Contraction::Contraction(const Aval& a, const Aval& b, const DotParams& d) : dtype(a.dtype) {
  const Shape a_steps = row_major_strides(a.shape), b_steps = row_major_strides(b.shape);
  const int a_rank = a.shape.rank(), b_rank = b.shape.rank();
  Group shared, rows, columns, sums;
  // The order of the sum is free: the one that the left operand has in memory.
  for (int i = 0; i < a_rank; ++i) {
    for (int j = 0; j < d.lhs_contract.rank(); ++j) {
      if (d.lhs_contract[j] != i) continue;
      sums.add({a.shape[i], a_steps[i], b_steps[static_cast<int>(d.rhs_contract[j])], 0});
    }
  }
  even = sums.count <= 1;
  if (!even) return;
  // Steps of the result, from its last axis.
  int64_t c_steps[2 * kMaxRank] = {};
  int64_t step = 1;
  for (int i = b_rank - 1; i >= 0; --i) {
    if (d.rhs_contract.contains(i) || d.rhs_batch.contains(i)) continue;
    c_steps[a_rank + i] = step;
    step *= b.shape[i];
  }
  for (int i = a_rank - 1; i >= 0; --i) {
    if (d.lhs_contract.contains(i) || d.lhs_batch.contains(i)) continue;
    c_steps[i] = step;
    step *= a.shape[i];
  }
  for (int j = d.lhs_batch.rank() - 1; j >= 0; --j) {
    const auto i = static_cast<int>(d.lhs_batch[j]);
    c_steps[i] = step;
    step *= a.shape[i];
  }
  for (int j = 0; j < d.lhs_batch.rank(); ++j) {
    const auto i = static_cast<int>(d.lhs_batch[j]);
    shared.add({a.shape[i], a_steps[i], b_steps[static_cast<int>(d.rhs_batch[j])], c_steps[i]});
  }
  for (int i = 0; i < a_rank; ++i) {
    if (!d.lhs_contract.contains(i) && !d.lhs_batch.contains(i))
      rows.add({a.shape[i], a_steps[i], 0, c_steps[i]});
  }
  for (int i = 0; i < b_rank; ++i) {
    if (!d.rhs_contract.contains(i) && !d.rhs_batch.contains(i))
      columns.add({b.shape[i], 0, b_steps[i], c_steps[a_rank + i]});
  }
  // Of the left operand the innermost axis that fills a tile; of the right one that whose elements
  // are neighbours in the result.
  int longest = 0;
  for (int i = 1; i < rows.count; ++i) {
    if (std::min(rows.axes[i].size, kTall) >= std::min(rows.axes[longest].size, kTall)) longest = i;
  }
  const Loop m = rows.take(longest), n = columns.take(columns.count - 1), k = sums.take(0);
  product.m = m.size, product.n = n.size, product.k = k.size;
  product.a_row = m.a, product.a_col = k.a;
  product.b_row = k.b, product.b_col = n.b;
  product.c_row = m.size == 1 ? n.size : m.c;
  for (const Group* g : {&shared, &rows, &columns}) {
    for (int i = 0; i < g->count; ++i) {
      loop[loops++] = g->axes[i];
      items *= g->axes[i].size;
    }
  }
}

}  // namespace spruce::cpu
