// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/linalg/bidiagonal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spruce/core/cpu/linalg/matrices.h"

namespace spruce::cpu {
namespace {

constexpr int kMostSteps = 60;  // of the iteration for one singular value
constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;

// A rotation with c x + s z = r and c z - s x = 0.
struct Rotation {
  Rotation(double x, double z) : r(length_of(x, z)) {
    if (r == 0) return;
    const double inverse = 1 / r;
    c = x * inverse, s = z * inverse;
  }
  double r, c = 1, s = 0;
};

// The part of B from row `first` to row `last`, counted backwards where last < first: as B' then,
// with the rotations of both sides in each other's place.
struct Block {
  Block(double* diagonal, double* off, int64_t begin, int64_t end, Rotations& left,
        Rotations& right)
      : d(diagonal), e(off) {
    // Towards the smaller end: rows that are graded keep the accuracy of their small values.
    const bool forward = std::abs(d[begin]) >= std::abs(d[end]);
    first = forward ? begin : end, last = forward ? end : begin, step = forward ? 1 : -1;
    before = forward ? &right : &left, after = forward ? &left : &right;
  }
  double& beside(int64_t i) const { return e[step > 0 ? i : i - 1]; }

  double *d, *e;
  int64_t first, last, step;
  Rotations *before, *after;  // of a step's first and second rotation
};

// The smaller singular value of the last two rows.
double shift_of(const Block& b) {
  const double f = std::abs(b.d[b.last - b.step]), h = std::abs(b.d[b.last]);
  const double g = b.beside(b.last - b.step);
  return 2 * f * (h / (length_of(f + h, g) + length_of(f - h, g)));
}

// One implicit step of the QR iteration with a shift. It makes the element beside the last row
// small.
void iterate(const Block& b, double shift) {
  const int64_t step = b.step;
  double *d = b.d,
         x = (std::abs(d[b.first]) - shift) * (std::copysign(1.0, d[b.first]) + shift / d[b.first]);
  double z = b.beside(b.first);
  b.before->begin(b.first, step);
  b.after->begin(b.first, step);
  for (int64_t i = b.first; i != b.last; i += step) {
    const Rotation one(x, z);
    b.before->add(one.c, -one.s);
    if (i != b.first) b.beside(i - step) = one.r;
    x = one.c * d[i] + one.s * b.beside(i);
    b.beside(i) = one.c * b.beside(i) - one.s * d[i];
    z = one.s * d[i + step];
    d[i + step] *= one.c;
    const Rotation two(x, z);
    b.after->add(two.c, -two.s);
    d[i] = two.r;
    x = two.c * b.beside(i) + two.s * d[i + step];
    d[i + step] = two.c * d[i + step] - two.s * b.beside(i);
    if (i + step == b.last) break;
    z = two.s * b.beside(i + step);
    b.beside(i + step) *= two.c;
  }
  b.beside(b.last - step) = x;
}

// The same without a shift, which keeps the relative accuracy of small values (Demmel and Kahan,
// Accurate Singular Values of Bidiagonal Matrices, 1990).
void iterate_without_shift(const Block& b) {
  const int64_t step = b.step;
  double* d = b.d;
  double c = 1, c_before = 1, s_before = 0;
  b.before->begin(b.first, step);
  b.after->begin(b.first, step);
  for (int64_t i = b.first; i != b.last; i += step) {
    const Rotation one(d[i] * c, b.beside(i));
    b.before->add(one.c, -one.s);
    if (i != b.first) b.beside(i - step) = s_before * one.r;
    const Rotation two(c_before * one.r, d[i + step] * one.s);
    b.after->add(two.c, -two.s);
    d[i] = two.r;
    c = one.c, c_before = two.c, s_before = two.s;
  }
  const double rest = d[b.last] * c;
  d[b.last] = rest * c_before;
  b.beside(b.last - step) = rest * s_before;
}

// Makes the block's matrix one step more diagonal.
void take_step(const Block& b) {
  constexpr double kTolerance = 64 * kEpsilon;
  double &last_beside = b.beside(b.last - b.step), largest = std::abs(b.d[b.last]);
  if (std::abs(last_beside) <= kTolerance * largest) {
    last_beside = 0;
    return;
  }
  // `least` is close to the smallest singular value, from below.
  double rest = std::abs(b.d[b.first]), least = rest;
  for (int64_t i = b.first; i != b.last; i += b.step) {
    const double beside = std::abs(b.beside(i));
    if (beside <= kTolerance * rest) {
      b.beside(i) = 0;
      return;
    }
    largest = std::max({largest, std::abs(b.d[i]), beside});
    rest = std::abs(b.d[i + b.step]) * (rest / (rest + beside));
    least = std::min(least, rest);
  }
  const auto size = static_cast<double>(std::abs(b.last - b.first) + 1);
  const double shift = size * kTolerance * least <= kEpsilon * largest ? 0 : shift_of(b);
  const double share = shift == 0 ? 0 : shift / b.d[b.first];
  if (share * share < kEpsilon)
    iterate_without_shift(b);
  else
    iterate(b, shift);
}

}  // namespace

int64_t bidiagonal_memory(int64_t n) { return 2 * kReflectors * n; }

void make_bidiagonal(const VectorLoops& v, const Bidiagonal& b, double* memory) {
  const int64_t n = b.n;
  const Reflectors left = b.left(), right = b.right();
  double *y = memory, *x = y + kReflectors * n;  // rows, for the reflectors of a panel
  for (int64_t k = 0; k < n; k += kReflectors) {
    const int64_t end = std::min(k + kReflectors, n);
    // What the reflectors of the panel make of the rest is a - v y' - x u'. Each u stands in a.
    double *panel_v = b.v + k * n, *panel_u = b.a + k * n;
    for (int64_t j = k; j < end; ++j) {
      const int64_t before = j - k, size = n - j, rest = size - 1, next = j + 1;
      double* column = panel_v + before * n + j;
      for (int64_t i = 0; i < size; ++i) column[i] = b.a[(j + i) * n + j];
      subtract_rows(v, y + j, n, panel_v + j, n, before, column, size);
      subtract_rows(v, panel_u + j, n, x + j, n, before, column, size);
      double tau = reflect(v, column, size);
      left.diagonal(j) = -tau;
      b.d[j] = column[0];
      column[0] = 1;
      if (rest == 0) break;

      double *row = b.a + j * n + next, *new_y = y + before * n + next;
      std::fill_n(new_y, rest, 0.0);
      subtract_rows(v, column, 1, row, n, size, new_y, rest);
      v.scale(-1, new_y, rest);
      subtract_products(v, panel_v + j, y + next, n, before, column, size, new_y, rest);
      subtract_products(v, x + j, panel_u + next, n, before, column, size, new_y, rest);
      v.scale(tau, new_y, rest);

      subtract_rows(v, panel_v + j, n, y + next, n, before + 1, row, rest);
      subtract_rows(v, x + j, n, panel_u + next, n, before, row, rest);
      tau = reflect(v, row, rest);
      right.diagonal(j) = -tau;
      b.e[j] = row[0];
      row[0] = 1;

      double* new_x = x + before * n + next;
      v.dot_rows(row + n, n, rest, row, rest, new_x);
      subtract_products(v, y + next, panel_v + next, n, before + 1, row, rest, new_x, rest);
      subtract_products(v, panel_u + next, x + next, n, before, row, rest, new_x, rest);
      v.scale(tau, new_x, rest);
    }
    if (end == n) return;
    const int64_t rest = n - end;
    double* to = b.a + end * (n + 1);
    for (int64_t p = 0; p < kReflectors; ++p) {
      v.scale(-1, y + p * n + end, rest);
      v.scale(-1, x + p * n + end, rest);
    }
    add_product(rest, rest, kReflectors, panel_v + end, 1, n, y + end, n, 1, to, n);
    add_product(rest, rest, kReflectors, x + end, 1, n, panel_u + end, n, 1, to, n);
  }
}

bool diagonalise_bidiagonal(int64_t n, double* d, double* e, Rotations& left, Rotations& right) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(d[i]));
  for (int64_t i = 0; i + 1 < n; ++i) largest = std::max(largest, std::abs(e[i]));
  const double negligible = kEpsilon * largest;
  int64_t end = n - 1, last_begin = -1, last_end = -1;
  int steps = 0;
  while (end > 0) {
    int64_t begin = end;
    while (begin > 0 && std::abs(e[begin - 1]) > negligible) --begin;
    if (begin == end) {
      --end;
      continue;
    }
    if (begin != last_begin || end != last_end) last_begin = begin, last_end = end, steps = 0;
    if (steps++ == kMostSteps) return false;
    take_step({d, e, begin, end, left, right});
  }
  left.apply();
  right.apply();
  return true;
}

}  // namespace spruce::cpu
