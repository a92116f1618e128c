// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/cpu/linalg/matrices.h"
#include "spruce/core/cpu/linalg/reflectors.h"
#include "spruce/core/rules/decompositions.h"

namespace spruce::cpu {
namespace {

constexpr int kMostSteps = 60;       // of the iteration for one eigenvalue
constexpr int64_t kTrailing = 128;   // rows of one product: what stands before them is left out
constexpr int64_t kSweeps = 16;      // of rotations that are applied together
constexpr int64_t kSweepWidth = 64;  // numbers of all rows that stay in the cache for them

// `memory` of one matrix.
struct EighMemory {
  EighMemory(int64_t size, double* memory) : n(size) {
    a = memory, z = a + n * n, d = z + n * n, e = d + n, blocks = e + n;
    left = blocks + reflector_blocks(n), right = left + 2 * kReflectors * n;
    more = right + 2 * kReflectors * n;
  }
  int64_t n;
  double *a, *z;         // [n, n]: the matrix, then reflectors; the eigenvectors as rows
  double *d, *e;         // the tridiagonal matrix: its diagonal and the one beside it
  double* blocks;        // of the reflectors
  double *left, *right;  // [2 kReflectors, n]: factors of what a panel adds to the rows below
  double* more;          // of the reflectors, then of rotations
};

int64_t eigh_numbers(int64_t n) {
  return 2 * n * n + 2 * n + reflector_blocks(n) + 4 * kReflectors * n +
         std::max(reflector_memory(n, n), 2 * kSweeps * n);
}

// y = S x for the symmetric S [n, n] of which `a` has the diagonal and what stands right of it.
void symmetric_product(const VectorLoops& v, const double* a, int64_t a_row, int64_t n,
                       const double* x, double* y) {
  std::fill_n(y, n, 0.0);
  for (int64_t i = 0; i < n; ++i) {
    const double* row = a + i * a_row + i;
    y[i] += row[0] * x[i] + v.dot(row + 1, x + i + 1, n - i - 1);
    v.add_scaled(x[i], row + 1, y + i + 1, n - i - 1);
  }
}

// Reduces the symmetric matrix of which m.a has the upper triangle to d and e: reflectors from both
// sides, S becoming S - v w' - w v' for each. Rows of a panel are brought up to date one by one,
// those below it by a product. m.a keeps the reflectors, which h describes.
void make_tridiagonal(const VectorLoops& v, const EighMemory& m, const Reflectors& h) {
  const int64_t n = m.n;
  for (int64_t k = 0; k < n; k += kReflectors) {
    const int64_t end = std::min(k + kReflectors, n);
    double* w = m.left + kReflectors * n - k * n;  // row j belongs to reflector j
    for (int64_t j = k; j < end; ++j) {
      double* row = m.a + j * n;
      for (int64_t p = k; p < j; ++p) {
        const double *vp = m.a + p * n, *wp = w + p * n;
        v.add_scaled(-vp[j], wp + j, row + j, n - j);
        v.add_scaled(-wp[j], vp + j, row + j, n - j);
      }
      m.d[j] = row[j];
      const int64_t first = j + 1, rest = n - first;
      if (rest == 0) break;
      double *x = row + first, *y = w + j * n + first;
      const double tau = reflect(v, x, rest);
      h.diagonal(j) = -tau;
      m.e[j] = x[0];
      x[0] = 1;
      symmetric_product(v, m.a + first * (n + 1), n, rest, x, y);
      for (int64_t p = k; p < j; ++p) {
        const double *vp = m.a + p * n + first, *wp = w + p * n + first;
        const double v_part = v.dot(vp, x, rest), w_part = v.dot(wp, x, rest);
        v.add_scaled(-w_part, vp, y, rest);
        v.add_scaled(-v_part, wp, y, rest);
      }
      v.scale(tau, y, rest);
      v.add_scaled(-tau / 2 * v.dot(x, y, rest), x, y, rest);
    }
    if (end == n) return;
    for (int64_t p = 0; p < kReflectors; ++p) {
      const double *vp = m.a + (k + p) * n, *wp = w + (k + p) * n;
      for (int64_t i = end; i < n; ++i) {
        m.left[p * n + i] = vp[i];
        m.right[p * n + i] = -wp[i];
        m.right[(kReflectors + p) * n + i] = -vp[i];
      }
    }
    for (int64_t i = end; i < n; i += kTrailing) {
      add_product(std::min(kTrailing, n - i), n - i, 2 * kReflectors, m.left + i, 1, n, m.right + i,
                  n, 1, m.a + i * (n + 1), n);
    }
  }
}

// Rotations of neighbouring rows of z, which are kept until there are enough of them to go through
// z in pieces that stay in the cache. Without z there is nothing to do.
class Rotations {
 public:
  Rotations(const VectorLoops& v, double* z, int64_t n, double* memory)
      : v_(v), z_(z), n_(n), memory_(memory) {}

  // Begins a sweep, whose rotations follow: of rows first and first + step, then from there on.
  void begin(int64_t first, int64_t step) {
    if (z_ == nullptr) return;
    if (count_ == kSweeps) apply();
    sweeps_[count_++] = {first, step, 0};
  }
  void add(double c, double s) {
    if (z_ == nullptr) return;
    Sweep& sweep = sweeps_[count_ - 1];
    double* to = memory_ + 2 * ((count_ - 1) * n_ + sweep.count++);
    to[0] = c, to[1] = s;
  }
  void apply() {
    if (z_ == nullptr) return;
    const int64_t pieces = (n_ + kSweepWidth - 1) / kSweepWidth;
    parallel_pieces(pieces, 2, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t column = piece * kSweepWidth;
        apply_to(z_ + column, std::min(kSweepWidth, n_ - column));
      }
    });
    count_ = 0;
  }

 private:
  struct Sweep {
    int64_t first, step, count;
  };

  void apply_to(double* z, int64_t width) const {
    for (int64_t i = 0; i < count_; ++i) {
      const Sweep& sweep = sweeps_[i];
      const double* c = memory_ + 2 * i * n_;
      double* x = z + sweep.first * n_;
      for (int64_t k = 0; k < sweep.count; ++k, c += 2, x += sweep.step * n_)
        v_.rotate(c[0], c[1], x, x + sweep.step * n_, width);
    }
  }

  const VectorLoops& v_;
  double* z_;
  int64_t n_;
  double* memory_;
  std::array<Sweep, kSweeps> sweeps_;
  int64_t count_ = 0;
};

// One implicit step of the QR iteration on the rows first to last of the tridiagonal matrix, which
// is counted backwards where last < first. It makes the element beside the last row small.
void iterate(double* d, double* e, int64_t first, int64_t last, Rotations& rotations) {
  const int64_t step = first < last ? 1 : -1;
  const auto beside = [&](int64_t i) -> double& { return e[step > 0 ? i : i - 1]; };
  // Wilkinson's shift: the eigenvalue of the last two rows that is nearer to the last element.
  const double b = beside(last - step), half = (d[last - step] - d[last]) / 2;
  const double shift = d[last] - b * (b / (half + std::copysign(length_of(half, b), half)));
  double x = d[first] - shift, z = beside(first);
  rotations.begin(first, step);
  for (int64_t i = first; i != last; i += step) {
    const double r = length_of(x, z);
    const double c = r == 0 ? 1 : x / r, s = r == 0 ? 0 : -z / r;
    rotations.add(c, s);
    if (i != first) beside(i - step) = r;
    const double t = s * (d[i] - d[i + step]) + 2 * c * beside(i);
    x = c * t - beside(i);
    d[i] -= s * t;
    d[i + step] += s * t;
    beside(i) = x;
    if (i + step != last) {
      z = -s * beside(i + step);
      beside(i + step) *= c;
    }
  }
}

// The last row of what is connected with row begin of the tridiagonal matrix. Elements beside the
// diagonal that are too small to count become zeros.
int64_t end_of_block(int64_t begin, int64_t n, const double* d, double* e) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;
  double largest = std::abs(d[begin]);
  int64_t end = begin;
  for (; end + 1 < n; ++end) {
    const double beside = std::abs(e[end]), next = std::abs(d[end + 1]);
    if (beside <= kEpsilon * (std::abs(d[end]) + next)) {
      e[end] = 0;
      break;
    }
    largest = std::max({largest, beside, next});
  }
  // A step rounds as much as this: where large elements stand between small ones, the small ones
  // need not become any smaller.
  for (int64_t i = begin; i < end; ++i) {
    if (std::abs(e[i]) > kEpsilon * largest) continue;
    e[i] = 0;
    return i;
  }
  return end;
}

// d becomes the eigenvalues, in no order; false if they do not converge.
bool diagonalise(int64_t n, double* d, double* e, Rotations& rotations) {
  int64_t begin = 0, last_begin = -1, last_end = -1;
  bool forward = true;
  int steps = 0;
  while (begin < n) {
    const int64_t end = end_of_block(begin, n, d, e);
    if (end == begin) {
      ++begin;
      continue;
    }
    if (begin != last_begin || end != last_end) {
      // Towards the smaller end: rows that are graded keep the accuracy of their small eigenvalues.
      forward = std::abs(d[begin]) >= std::abs(d[end]);
      last_begin = begin, last_end = end, steps = 0;
    }
    if (steps++ == kMostSteps) return false;
    iterate(d, e, forward ? begin : end, forward ? end : begin, rotations);
  }
  rotations.apply();
  return true;
}

// d rises; the rows of z follow it.
void sort_rows(int64_t n, double* d, double* z) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t least = std::min_element(d + i, d + n) - d;
    if (least == i) continue;
    std::swap(d[i], d[least]);
    std::swap_ranges(z + i * n, (z + (i + 1) * n), z + least * n);
  }
}

// The matrix stands in m.z. d becomes its eigenvalues, a its eigenvectors if they are asked for;
// false where there are none.
bool decompose_symmetric(const EighMemory& m, bool vectors) {
  const VectorLoops& v = vector_loops();
  const int64_t n = m.n;
  for (int64_t i = 0; i < n; ++i) {
    if (!all_finite(m.z + i * n, i + 1)) return false;
    std::fill(m.z + i * n + i + 1, m.z + (i + 1) * n, 0.0);
  }
  const int exponent = largest_exponent(m.z, n * n);
  scale_by_power(-exponent, m.z, n * n);
  transpose_matrix(m.z, n, n, m.a);
  const Reflectors h{n - 1, n - 1, m.a + 1, n, m.blocks};
  make_tridiagonal(v, m, h);
  if (!vectors) {
    Rotations none(v, nullptr, n, m.more);
    if (!diagonalise(n, m.d, m.e, none)) return false;
    std::sort(m.d, m.d + n);
    scale_by_power(exponent, m.d, n);
    return true;
  }
  complete_blocks(h, m.more);
  std::fill_n(m.z, n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) m.z[i * (n + 1)] = 1;
  if (n > 1) apply_reflectors(h, true, m.z + n + 1, n, n - 1, m.more);
  Rotations rotations(v, m.z, n, m.more);
  if (!diagonalise(n, m.d, m.e, rotations)) return false;
  sort_rows(n, m.d, m.z);
  scale_by_power(exponent, m.d, n);
  for (int64_t i = 0; i < n; ++i) {
    if (needs_flip(m.z + i * n, n)) v.scale(-1, m.z + i * n, n);
  }
  transpose_matrix(m.z, n, n, m.a);
  return true;
}

}  // namespace

size_t eigh_workspace(const PrepareArgs& args) {
  return workspace_size(bytes_of<double>(eigh_numbers(args.in[0]->shape.back())));
}

void eigh_kernel(const KernelArgs& args) {
  const MatrixBatch batch(args.in[0].shape());
  const int64_t n = batch.rows;
  if (n == 0) return;
  const bool vectors = args.params.get<EighParams>().vectors;
  const double work =
      (vectors ? 5 : 1) * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  for_each_matrix(batch.count, work, bytes_of<double>(eigh_numbers(n)),
                  [&](int64_t i, double* memory) {
                    const EighMemory m(n, memory);
                    read_doubles(args.in[0], i * batch.elements, batch.elements, m.z);
                    if (decompose_symmetric(m, vectors)) {
                      write_doubles(m.d, n, args.out[0], i * n);
                      if (vectors)
                        write_doubles(m.a, batch.elements, args.out[1], i * batch.elements);
                    } else {
                      write_nan(args.out[0], i * n, n);
                      if (vectors) write_nan(args.out[1], i * batch.elements, batch.elements);
                    }
                  });
}

}  // namespace spruce::cpu
