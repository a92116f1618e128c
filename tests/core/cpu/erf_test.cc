// SPDX-License-Identifier: Apache-2.0
// erf of floats against that of doubles, at floats of all sizes.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace spruce {
namespace {

TEST(Erf, OfFloatsIsAccurate) {
  std::vector<float> x;
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 4093) {
    float v;
    std::memcpy(&v, &bits, sizeof(v));
    x.push_back(v);
    x.push_back(-v);
  }
  const std::vector<float> y = erf(array(x)).to_vector<float>();
  double worst = 0;
  float where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = std::erf(static_cast<double>(x[i]));
    const float nearest = static_cast<float>(std::abs(want));
    const double ulp = static_cast<double>(
        std::nextafterf(nearest, std::numeric_limits<float>::infinity()) - nearest);
    const double error = std::abs(static_cast<double>(y[i]) - want) / ulp;
    if (error > worst) worst = error, where = x[i];
    ASSERT_LE(std::abs(y[i]), 1.0f);
  }
  EXPECT_LT(worst, 2.5) << "at " << where;
}

TEST(Erf, OfSpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> y =
      erf(array(
              std::vector<float>{inf, -inf, std::numeric_limits<float>::quiet_NaN(), 0.0f, -0.0f}))
          .to_vector<float>();
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], -1);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 0);
  EXPECT_TRUE(std::signbit(y[4]) && !std::signbit(y[3]));
}

}  // namespace
}  // namespace spruce
