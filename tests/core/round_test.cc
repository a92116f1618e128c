// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace round_test {

// Values of NumPy 2.4.6's round.
TEST(Round, ToDecimals) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto f = [](const Array& x, int64_t d) { return round(x, d).to_vector<float>(); };
  EXPECT_EQ(f(array({0.15f, 2.675f, 1e30f, -inf}), 2),
            (std::vector<float>{0.15f, 2.68f, 1e30f, -inf}));
  EXPECT_TRUE(std::signbit(f(array({-0.0f}), 2)[0]));
  EXPECT_EQ(round(array({1234.5, 55.0, 65.0}, float64), -1).to_vector<double>(),
            (std::vector<double>{1230, 60, 60}));
  EXPECT_EQ(round(array({15, 25, -15, 123456}), -1).to_vector<int32_t>(),
            (std::vector<int32_t>{20, 20, -20, 123460}));
  EXPECT_EQ(round(array({(int64_t{1} << 40) + 5}), -1).item<int64_t>(), 1099511627780);
  EXPECT_EQ(round(array({15, 25}), 2).to_vector<int32_t>(), (std::vector<int32_t>{15, 25}));
  // f16 in f32, as JAX's: 600 * 100 is too large for f16.
  EXPECT_EQ(
      astype(round(astype(array({2.675f, 600.0f}), float16), 2), float32).to_vector<float>()[1],
      600.0f);
  EXPECT_EQ(round(Array(2.5f), 1).dtype(), float32);
  EXPECT_TRUE(round(Array(2.5f), 1).weak());
  EXPECT_EQ(round(2.5f).item<float>(), 2.0f);
  EXPECT_EQ(grad([](const Array& x) { return sum(round(x, 1)); })(array({0.33f})).item<float>(), 0);
}

}  // namespace round_test
}  // namespace spruce
