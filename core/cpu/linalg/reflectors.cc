// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/linalg/reflectors.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "spruce/core/cpu/linalg/matrices.h"

namespace spruce::cpu {
namespace {

constexpr double kFar = 0x1p600;

double largest_magnitude(const double* x, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

// Of vectors that are too short for products: each reflector is applied by itself.
constexpr int64_t kShortVectors = 8;

bool one_by_one(const Reflectors& h) { return h.length <= kShortVectors; }

// Reflector j of n vectors x, each of h.length numbers.
void apply_one(const Reflectors& h, int64_t j, double* x, int64_t x_step, int64_t n) {
  const double* row = h.rows + j * h.step;
  const double weight = h.diagonal(j);
  if (weight == 0) return;
  for (int64_t i = 0; i < n; ++i, x += x_step) {
    double sum = x[j];
    for (int64_t p = j + 1; p < h.length; ++p) sum += row[p] * x[p];
    sum *= weight;
    x[j] += sum;
    for (int64_t p = j + 1; p < h.length; ++p) x[p] += sum * row[p];
  }
}

// V' of the block that begins with reflector k, dense: `width` rows of h.length - k.
void expand_block(const Reflectors& h, int64_t k, int64_t width, double* to) {
  const int64_t length = h.length - k;
  for (int64_t j = 0; j < width; ++j) {
    const double* row = h.rows + (k + j) * h.step + k;
    double* v = to + j * length;
    std::fill(v, v + j, 0.0);
    v[j] = 1;
    std::copy(row + j + 1, row + length, v + j + 1);
  }
}

// M of the block that begins with reflector k; V' is left in memory.
void complete_block(const Reflectors& h, int64_t k, double* memory) {
  const int64_t width = std::min(kReflectors, h.count - k), length = h.length - k;
  double *m = h.block(k), *products = memory + kReflectors * h.length;
  expand_block(h, k, width, memory);
  std::fill_n(products, width * kReflectors, 0.0);
  add_product(width, width, length, memory, length, 1, memory, 1, length, products, kReflectors);
  for (int64_t i = 0; i < width; ++i) {
    for (int64_t j = 0; j < i; ++j) m[i * kReflectors + j] = 0;
    for (int64_t j = i + 1; j < width; ++j) {
      double sum = 0;
      for (int64_t p = i; p < j; ++p) sum += m[i * kReflectors + p] * products[p * kReflectors + j];
      m[i * kReflectors + j] = m[j * (kReflectors + 1)] * sum;
    }
  }
}

// Applies the block of reflector k, whose V' stands in memory, or its transpose to the last
// h.length - k numbers of n vectors; x points to the first of them.
void apply_block(const Reflectors& h, int64_t k, bool transposed, double* x, int64_t x_step,
                 int64_t n, double* memory) {
  const int64_t width = std::min(kReflectors, h.count - k), length = h.length - k;
  const double *v = memory, *m = h.block(k);
  double *inner = memory + kReflectors * h.length, *weights = inner + kReflectors * n;
  std::fill_n(inner, 2 * kReflectors * n, 0.0);
  add_product(n, width, length, x, x_step, 1, v, 1, length, inner, kReflectors);
  add_product(n, width, width, inner, kReflectors, 1, m, transposed ? 1 : kReflectors,
              transposed ? kReflectors : 1, weights, kReflectors);
  add_product(n, length, width, weights, kReflectors, 1, v, length, 1, x, x_step);
}

}  // namespace

int64_t reflector_blocks(int64_t count) {
  return (count + kReflectors - 1) / kReflectors * kReflectors * kReflectors;
}

int64_t reflector_memory(int64_t length, int64_t n) {
  return kReflectors * (length + 2 * std::max(n, kReflectors));
}

double norm(const VectorLoops& v, const double* x, int64_t n) {
  const double square = v.dot(x, x, n);
  if ((square >= kLeastSum && square <= kMostSum) || std::isnan(square)) return std::sqrt(square);
  const double largest = largest_magnitude(x, n);
  if (largest == 0 || std::isinf(largest)) return largest;
  const double unit = largest < 1 ? 1 / kFar : kFar, inverse = 1 / unit;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += (x[i] * inverse) * (x[i] * inverse);
  return unit * std::sqrt(sum);
}

double reflect(const VectorLoops& v, double* x, int64_t n) {
  double rest = norm(v, x + 1, n - 1);
  if (rest == 0) return 0;
  double beta = length_of(x[0], rest), unit = 1;
  if (beta < 1 / kFar) {  // the inverse of x[0] - beta might be infinite
    unit = 1 / kFar;
    v.scale(kFar, x, n);
    beta = length_of(x[0], norm(v, x + 1, n - 1));
  }
  beta = -std::copysign(beta, x[0]);
  const double tau = (beta - x[0]) / beta;
  v.scale(1 / (x[0] - beta), x + 1, n - 1);
  x[0] = beta * unit;
  return tau;
}

void factor_columns(const VectorLoops& v, const Reflectors& h, int64_t n, double* memory) {
  for (int64_t k = 0; k < h.count; k += kReflectors) {
    const int64_t end = std::min(k + kReflectors, h.count);
    for (int64_t j = k; j < end; ++j) {
      double* row = h.rows + j * h.step + j;
      const int64_t rest = h.length - j - 1;
      const double tau = reflect(v, row, rest + 1);
      h.diagonal(j) = -tau;
      if (tau == 0) continue;
      for (int64_t i = j + 1; i < end; ++i) {
        double* x = h.rows + i * h.step + j;
        const double weight = -tau * (x[0] + v.dot(row + 1, x + 1, rest));
        x[0] += weight;
        v.add_scaled(weight, row + 1, x + 1, rest);
      }
    }
    if (one_by_one(h)) {
      for (int64_t j = k; j < end; ++j) apply_one(h, j, h.rows + end * h.step, h.step, n - end);
      return;
    }
    complete_block(h, k, memory);
    apply_block(h, k, false, h.rows + end * h.step + k, h.step, n - end, memory);
  }
}

void complete_blocks(const Reflectors& h, double* memory) {
  if (one_by_one(h)) return;
  for (int64_t k = 0; k < h.count; k += kReflectors) complete_block(h, k, memory);
}

void apply_reflectors(const Reflectors& h, bool identity, double* x, int64_t x_step, int64_t n,
                      double* memory) {
  if (one_by_one(h)) {
    for (int64_t j = h.count - 1; j >= 0; --j) {
      const int64_t first = identity ? std::min(j, n) : 0;
      apply_one(h, j, x + first * x_step, x_step, n - first);
    }
    return;
  }
  const int64_t blocks = (h.count + kReflectors - 1) / kReflectors;
  for (int64_t b = blocks - 1; b >= 0; --b) {
    const int64_t k = b * kReflectors;
    expand_block(h, k, std::min(kReflectors, h.count - k), memory);
    // The vectors before k are still zeros from number k on.
    const int64_t first = identity ? std::min(k, n) : 0;
    apply_block(h, k, true, x + first * x_step + k, x_step, n - first, memory);
  }
}

void multiply_reflectors(const Reflectors& h, int64_t size, double* x, int64_t n, double* memory) {
  std::fill_n(x, n * size, 0.0);
  for (int64_t i = 0; i < n; ++i) x[i * (size + 1)] = 1;
  const int64_t kept = size - h.length;
  if (n > kept) apply_reflectors(h, true, x + kept * (size + 1), size, n - kept, memory);
}

void subtract_products(const VectorLoops& v, const double* a, const double* b, int64_t step,
                       int64_t count, const double* x, int64_t m, double* y, int64_t n) {
  std::array<double, kReflectors> products;
  v.dot_rows(a, step, count, x, m, products.data());
  subtract_rows(v, products.data(), 1, b, step, count, y, n);
}

int largest_exponent(const double* x, int64_t n) {
  const double largest = largest_magnitude(x, n);
  return largest == 0 ? 0 : std::ilogb(largest);
}

void scale_by_power(int e, double* x, int64_t n) {
  if (e == 0) return;
  // 2^e itself might be infinite or zero.
  const double half = std::ldexp(1.0, e / 2), rest = std::ldexp(1.0, e - e / 2);
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] * half * rest;
}

}  // namespace spruce::cpu
