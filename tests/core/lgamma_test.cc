// SPDX-License-Identifier: Apache-2.0
// lgamma of f64 beside its zeros at 1 and 2, by the first terms of its series there.
#include <gtest/gtest.h>

#include <cmath>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"

namespace spruce {
namespace lgamma_test {

TEST(Lgamma, KeepsItsDigitsBesideItsZeros) {
  const double g = 0.57721566490153286061, z = 1.64493406684822643647;  // Euler's, pi^2 / 6
  for (const double e : {0x1p-30, -0x1p-30, 0x1p-40, -0x1p-45}) {
    const double one = -g * e + z / 2 * e * e, two = (1 - g) * e + (z - 1) / 2 * e * e;
    EXPECT_NEAR(lgamma(array(1 + e, float64)).item<double>(), one, 1e-14 * std::fabs(one)) << e;
    EXPECT_NEAR(lgamma(array(2 + e, float64)).item<double>(), two, 1e-14 * std::fabs(two)) << e;
  }
}

}  // namespace lgamma_test
}  // namespace spruce
