// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/cpu/linalg/matrices.h"
#include "spruce/core/cpu/linalg/triangular.h"
#include "spruce/core/cpu/linalg/vectors.h"
#include "spruce/core/rules/decompositions.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kFew = 8;     // columns that are solved one by one, as vectors ...
constexpr int64_t kShort = 16;  // ... of more numbers than these

double diagonal_of(const Triangle& t, int64_t i) { return t.a[i * (t.row + t.column)]; }

// One right side, rows begin to end of it as a dense vector x: what stands outside of them has been
// subtracted.
void solve_vector(const VectorLoops& v, const Triangle& t, int64_t begin, int64_t end, double* x) {
  const int64_t n = end - begin;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = t.lower ? step : n - 1 - step, at = begin + i;
    const int64_t first = t.lower ? 0 : i + 1, solved = step;  // of what is known by now
    if (t.column == 1) x[i] -= v.dot(t.a + at * t.row + begin + first, x + first, solved);
    if (!t.unit) x[i] /= diagonal_of(t, at);
    if (t.column != 1) {
      const int64_t next = t.lower ? i + 1 : 0;
      v.add_scaled(-x[i], t.a + at * t.column + begin + next, x + next, n - 1 - step);
    }
  }
}

// All right sides, rows begin to end.
void solve_rows(const VectorLoops& v, const Triangle& t, int64_t begin, int64_t end, int64_t k,
                double* b) {
  for (int64_t step = 0; step < end - begin; ++step) {
    const int64_t i = t.lower ? begin + step : end - 1 - step;
    const int64_t first = t.lower ? begin : i + 1;
    subtract_rows(v, t.a + i * t.row + first * t.column, t.column, b + first * k, k, step,
                  b + i * k, k);
    for (int64_t c = 0; !t.unit && c < k; ++c) b[i * k + c] /= diagonal_of(t, i);
  }
}

}  // namespace

int64_t triangle_memory(int64_t n, int64_t k) { return std::min(n, kPanel) * std::max(k, kFew); }

void solve_triangle(const Triangle& t, int64_t n, int64_t k, double* b, double* memory) {
  const VectorLoops& v = vector_loops();
  for (int64_t done = 0; done < n; done += kPanel) {
    const int64_t width = std::min(kPanel, n - done);
    const int64_t begin = t.lower ? done : n - done - width, end = begin + width;
    if (k < kFew && n > kShort) {
      for (int64_t c = 0; c < k; ++c) {
        for (int64_t i = 0; i < width; ++i) memory[i] = b[(begin + i) * k + c];
        solve_vector(v, t, begin, end, memory);
        for (int64_t i = 0; i < width; ++i) b[(begin + i) * k + c] = memory[i];
      }
    } else {
      solve_rows(v, t, begin, end, k, b);
    }
    const int64_t rest = t.lower ? end : 0, rows = n - done - width;
    if (rows == 0) return;
    for (int64_t i = 0; i < width * k; ++i) memory[i] = -b[begin * k + i];
    add_product(rows, k, width, t.a + rest * t.row + begin * t.column, t.row, t.column, memory, k,
                1, b + rest * k, k);
  }
}

namespace {

struct Sizes {
  explicit Sizes(const Shape& b) : n(b[b.rank() - 2]), k(b.back()) {}
  size_t bytes() const { return bytes_of<double>(n * n + n * k + triangle_memory(n, k)); }
  int64_t n, k;
};

}  // namespace

size_t triangular_solve_workspace(const PrepareArgs& args) {
  return workspace_size(Sizes(args.in[1]->shape).bytes());
}

void triangular_solve_kernel(const KernelArgs& args) {
  const auto& p = args.params.get<TriangularSolveParams>();
  const MatrixBatch batch(args.in[1].shape());
  const Sizes s(args.in[1].shape());
  const double work =
      static_cast<double>(s.n) * static_cast<double>(s.n) * static_cast<double>(s.k) / 2;
  for_each_matrix(batch.count, work, s.bytes(), [&](int64_t i, double* memory) {
    double *a = memory, *b = a + s.n * s.n;
    read_doubles(args.in[0], i * s.n * s.n, s.n * s.n, a);
    read_doubles(args.in[1], i * batch.elements, batch.elements, b);
    const Triangle t{a, p.transpose ? 1 : s.n, p.transpose ? s.n : 1, p.lower != p.transpose,
                     p.unit_diagonal};
    solve_triangle(t, s.n, s.k, b, b + batch.elements);
    write_doubles(b, batch.elements, args.out[0], i * batch.elements);
  });
}

}  // namespace spruce::cpu
