// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/linalg/tridiagonal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spruce::cpu {
namespace {

constexpr int kMostSteps = 60;  // of the iteration for one eigenvalue
constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;

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

}  // namespace

bool diagonalise_tridiagonal(int64_t n, double* d, double* e, Rotations& rotations) {
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

}  // namespace spruce::cpu
