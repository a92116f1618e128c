// SPDX-License-Identifier: Apache-2.0
// Derivatives where intermediate results of the textbook's formula overflow, vanish or cancel.
#include <gtest/gtest.h>

#include <cmath>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace extreme_derivatives_test {

void expect_close(const Array& got, double expected, double relative) {
  EXPECT_NEAR(astype(got, float64).item<double>(), expected, relative * std::fabs(expected));
}

Array f64(double x) { return array(x, float64); }
Array f32(double x) { return array(x, float32); }

TEST(ExtremeDerivatives, OfAcosh) {
  const auto slope = grad([](const Array& x) { return acosh(x); });
  for (const double x : {1e20, 1e200, 1e300}) expect_close(slope(f64(x)), 1 / x, 1e-14);
  for (const double x : {1e10, 1e25, 1e38}) expect_close(slope(f32(x)), 1 / x, 1e-6);
  // Beside 1 it is 1 / sqrt(2 e).
  for (const double e : {0x1p-52, 0x1p-40, 0x1p-30})
    expect_close(slope(f64(1 + e)), 1 / std::sqrt(2 * e + e * e), 1e-14);
  for (const double e : {0x1p-23, 0x1p-20})
    expect_close(slope(f32(1 + e)), 1 / std::sqrt(2 * e + e * e), 1e-6);
}

TEST(ExtremeDerivatives, OfDiv) {
  const auto by = grad<0, 1>([](const Array& a, const Array& b) { return a / b; });
  struct Row {
    double a, b;
  };
  for (const Row r : {Row{1e200, 1e200}, {3e-200, 1e-150}, {1e300, 1e250}, {1e-300, 1e-280}}) {
    const auto [da, db] = by(f64(r.a), f64(r.b));
    expect_close(da, 1 / r.b, 1e-15);
    expect_close(db, -(r.a / r.b) / r.b, 1e-15);
  }
  for (const Row r : {Row{1e30, 1e30}, {2e-30, 1e-25}, {1e38, 1e25}, {1e-30, 1e-30}}) {
    const auto [da, db] = by(f32(r.a), f32(r.b));
    expect_close(da, 1 / r.b, 3e-7);
    expect_close(db, -(r.a / r.b) / r.b, 3e-7);
  }
}

}  // namespace extreme_derivatives_test
}  // namespace spruce
