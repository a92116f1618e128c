// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/linalg/powers.h"

#include <cmath>
#include <limits>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/matrices.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/control/control.h"
#include "spruce/transforms/derive/stop_gradient.h"
#include "spruce/transforms/linalg/solve.h"

namespace spruce::linalg {
namespace {

using spruce::internal::require_all_defined;
using spruce::internal::require_defined;
using spruce::internal::square_matrix;

// The best order of n products whose operand i is sizes[i] x sizes[i + 1]: where operands i to j
// are divided, at [i * n + j].
std::vector<size_t> best_order(const std::vector<int64_t>& sizes) {
  const size_t n = sizes.size() - 1;
  std::vector<double> cost(n * n, 0);
  std::vector<size_t> at(n * n, 0);
  const auto size = [&](size_t i) { return static_cast<double>(sizes[i]); };
  for (size_t length = 2; length <= n; ++length) {
    for (size_t i = 0; i + length <= n; ++i) {
      const size_t j = i + length - 1;
      cost[i * n + j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        const double c =
            cost[i * n + k] + cost[(k + 1) * n + j] + size(i) * size(k + 1) * size(j + 1);
        if (c < cost[i * n + j]) cost[i * n + j] = c, at[i * n + j] = k;
      }
    }
  }
  return at;
}

// The product of arrays i to j, whose divisions `at` names, without recursion: an operator that
// waits for both of its operands stands on the stack below them.
Array product_by(const std::vector<Array>& arrays, const std::vector<size_t>& at) {
  const size_t n = arrays.size();
  struct Range {
    size_t i, j;
    bool expanded;
  };
  std::vector<Range> todo{{0, n - 1, false}};
  std::vector<Array> done;
  while (!todo.empty()) {
    const Range r = todo.back();
    todo.pop_back();
    if (r.i == r.j) {
      done.push_back(arrays[r.i]);
    } else if (!r.expanded) {
      const size_t k = at[r.i * n + r.j];
      todo.push_back({r.i, r.j, true});
      todo.push_back({k + 1, r.j, false});
      todo.push_back({r.i, k, false});
    } else {
      const Array right = done.back();
      done.pop_back();
      done.back() = matmul(done.back(), right);
    }
  }
  return done[0];
}

// exp(a) for matrices of small norm: Pade's approximation of order 13.
Array pade(const Array& a) {
  constexpr double b[] = {64764752532480000.0,
                          32382376266240000.0,
                          7771770303897600.0,
                          1187353796428800.0,
                          129060195264000.0,
                          10559470521600.0,
                          670442572800.0,
                          33522128640.0,
                          1323241920.0,
                          40840800.0,
                          960960.0,
                          16380.0,
                          182.0,
                          1.0};
  // Divided by the first one, so that f32 holds their products.
  const auto c = [&](int i) { return b[i] / b[0]; };
  const Array one = spruce::internal::identity_like(a);
  const Array a2 = matmul(a, a), a4 = matmul(a2, a2), a6 = matmul(a2, a4);
  const Array odd = matmul(a6, c(13) * a6 + c(11) * a4 + c(9) * a2) + c(7) * a6 + c(5) * a4 +
                    c(3) * a2 + c(1) * one;
  const Array even = matmul(a6, c(12) * a6 + c(10) * a4 + c(8) * a2) + c(6) * a6 + c(4) * a4 +
                     c(2) * a2 + c(0) * one;
  const Array u = matmul(a, odd);
  return solve(even - u, even + u);
}

}  // namespace

Array MatrixPowerFunction::operator()(const Array& a, int64_t n, Loc loc) const {
  const OpScope at("linalg::matrix_power", loc);
  require_defined("linalg::matrix_power", "a", a);
  (void)square_matrix("linalg::matrix_power", a);
  if (n == 0) return broadcast_to(spruce::internal::identity_like(a), a.shape());
  Array square = n < 0 ? inv(a, loc) : a;
  Array result;
  for (uint64_t left = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n); left != 0;
       left >>= 1) {
    if ((left & 1) != 0) result = result.defined() ? matmul(result, square) : square;
    if (left > 1) square = matmul(square, square);
  }
  return result;
}

Array MultiDotFunction::operator()(const std::vector<Array>& arrays, Loc loc) const {
  const OpScope at("linalg::multi_dot", loc);
  require_all_defined("linalg::multi_dot", arrays);
  if (arrays.size() < 2) throw ValueError("linalg::multi_dot: takes two arrays or more");
  const bool row = arrays.front().rank() == 1, column = arrays.back().rank() == 1;
  std::vector<Array> all = arrays;
  if (row) all.front() = expand_dims(all.front(), 0);
  if (column) all.back() = expand_dims(all.back(), 1);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].rank() != 2) {
      throw ShapeError("linalg::multi_dot: array " + std::to_string(i) + " is " +
                       to_string(arrays[i].aval()) +
                       "; all are matrices, the first and the last may be vectors");
    }
    if (i > 0 && all[i].shape()[0] != all[i - 1].shape()[1]) {
      throw ShapeError("linalg::multi_dot: arrays " + std::to_string(i - 1) + " and " +
                       std::to_string(i) + " do not fit: " + to_string(arrays[i - 1].aval()) +
                       ", " + to_string(arrays[i].aval()));
    }
    sizes.push_back(all[i].shape()[0]);
  }
  sizes.push_back(all.back().shape()[1]);
  Array out = product_by(all, best_order(sizes));
  if (column) out = squeeze(out, 1);
  return row ? squeeze(out, 0) : out;
}

Array ExpmFunction::operator()(const Array& a, Loc loc) const {
  const OpScope at("linalg::expm", loc);
  require_defined("linalg::expm", "a", a);
  const Array given = square_matrix("linalg::expm", a);
  const Array x = is_half(given.dtype()) ? rules::convert(given, float32) : given;
  if (x.size() == 0) return given;
  constexpr int64_t kSquarings = 16;
  const Array norm = max(sum(abs(stop_gradient(x)), -2), -1);  // f[...]
  const Array halvings = ceil(maximum(log2(norm / 5.371920351148152), 0));
  const Array scale = exp2(-halvings);
  const auto like_x = [](const Array& v) { return expand_dims(expand_dims(v, -1), -1); };
  const Array small = pade(x * like_x(where(halvings <= kSquarings, scale, NAN)));
  const Array most = max(halvings);
  const Array y = fori_loop(
      0, kSquarings,
      [&](const Array& i, const Array& r) {
        const auto squared = [&](const Array& y) {
          return where(like_x(less(astype(i, halvings.dtype()), halvings)), matmul(y, y), y);
        };
        return spruce::cond(
            less(astype(i, most.dtype()), most), squared, [](const Array& y) { return y; }, r);
      },
      small);
  return rules::convert(y, given.dtype());
}

Array BlockDiagFunction::operator()(const std::vector<Array>& arrays, Loc loc) const {
  const OpScope at("linalg::block_diag", loc);
  require_all_defined("linalg::block_diag", arrays);
  if (arrays.empty()) throw ValueError("linalg::block_diag: takes one array or more");
  Dtype dtype = arrays[0].dtype();
  bool weak = arrays[0].weak();
  int64_t columns = 0;
  std::vector<Array> blocks;
  for (const Array& a : arrays) {
    if (a.rank() > 2) {
      throw ShapeError("linalg::block_diag: takes matrices and vectors, got " +
                       to_string(a.aval()));
    }
    dtype = promote(dtype, weak, a.dtype(), a.weak());
    weak = weak && a.weak();
    blocks.push_back(a.rank() == 2 ? a : reshape(a, {1, a.size()}));
    columns += blocks.back().shape()[1];
  }
  int64_t before = 0;
  for (Array& b : blocks) {
    const int64_t width = b.shape()[1];
    b = rules::pad_axis(rules::convert(b, dtype, weak), 1, before, columns - before - width);
    before += width;
  }
  return rules::concatenate_axis(blocks, 0);
}

}  // namespace spruce::linalg
