// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/contraction.h"

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

// What the general way finds for two matrices, sooner: an eager product of small ones takes little
// longer than that.
void Contraction::set_matrices(const Shape& a, const Shape& b, bool a_turned, bool b_turned) {
  Gemm& g = product;
  g.k = a[a_turned ? 0 : 1];
  g.m = a[a_turned ? 1 : 0], g.n = b[b_turned ? 0 : 1];
  (a_turned ? g.a_col : g.a_row) = a[1];
  (a_turned ? g.a_row : g.a_col) = 1;
  (b_turned ? g.b_col : g.b_row) = b[1];
  (b_turned ? g.b_row : g.b_col) = 1;
  g.c_row = g.n;
}

Contraction::Contraction(const Aval& a, const Aval& b, const DotParams& d,
                         const DotStrides& strides)
    : dtype(a.dtype) {
  const auto matrix = [](const Shape& s) { return s.rank() == 2 && s[0] > 1 && s[1] > 1; };
  if (matrix(a.shape) && matrix(b.shape) && d.lhs_contract.rank() == 1 && d.lhs_batch.empty() &&
      strides.a == nullptr && strides.b == nullptr && strides.c == nullptr) {
    set_matrices(a.shape, b.shape, d.lhs_contract[0] == 0, d.rhs_contract[0] == 1);
    return;
  }
  const Shape a_steps = strides.a != nullptr ? *strides.a : row_major_strides(a.shape),
              b_steps = strides.b != nullptr ? *strides.b : row_major_strides(b.shape);
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
  // The axes of the result in dot_general's order, as places in c_steps, and their sizes.
  int places[2 * kMaxRank];
  Shape sizes;
  const auto result_axis = [&](int place, int64_t size) {
    places[sizes.rank()] = place;
    sizes.push_back(size);
  };
  for (const int64_t i : d.lhs_batch)
    result_axis(static_cast<int>(i), a.shape[static_cast<int>(i)]);
  for (int i = 0; i < a_rank; ++i) {
    if (!d.lhs_contract.contains(i) && !d.lhs_batch.contains(i)) result_axis(i, a.shape[i]);
  }
  for (int i = 0; i < b_rank; ++i) {
    if (!d.rhs_contract.contains(i) && !d.rhs_batch.contains(i))
      result_axis(a_rank + i, b.shape[i]);
  }
  int64_t c_steps[2 * kMaxRank] = {};
  const Shape result_steps = strides.c != nullptr ? *strides.c : row_major_strides(sizes);
  for (int i = 0; i < sizes.rank(); ++i) c_steps[places[i]] = result_steps[i];
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
  const auto has_neighbours = [](const Group& g) {
    return std::any_of(g.axes, g.axes + g.count, [](const Loop& l) { return l.c == 1; });
  };
  if (strides.c != nullptr && !has_neighbours(columns) && has_neighbours(rows)) {
    swapped = true;
    std::swap(rows, columns);
    for (Group* g : {&shared, &rows, &columns, &sums}) {
      for (int i = 0; i < g->count; ++i) std::swap(g->axes[i].a, g->axes[i].b);
    }
  }
  // Of the left operand the innermost axis that fills a tile; of the right one that whose elements
  // are neighbours in the result.
  int longest = 0;
  for (int i = 1; i < rows.count; ++i) {
    if (std::min(rows.axes[i].size, kTall) >= std::min(rows.axes[longest].size, kTall)) longest = i;
  }
  int neighbours = columns.count - 1;
  while (neighbours >= 0 && columns.axes[neighbours].c != 1) --neighbours;
  const Loop m = rows.take(longest), k = sums.take(0);
  const Loop n = neighbours < 0 ? Loop{1, 1, 1, 1} : columns.take(neighbours);
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
