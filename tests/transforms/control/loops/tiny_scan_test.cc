// SPDX-License-Identifier: Apache-2.0
// Loops over arrays of a few elements, compiled whole, against the same loops step by step.
#include <gtest/gtest.h>

#include "spruce/core/fusion/tiny.h"
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/control/control.h"
#include "spruce/transforms/derive/grad.h"
#include "spruce/transforms/derive/jacobian.h"

namespace spruce {
namespace tiny_scan_test {

Array lorenz(const Array& theta, const Array& s) {
  return stack(
      {theta[0] * (s[1] - s[0]), s[0] * (theta[1] - s[2]) - s[1], s[0] * s[1] - theta[2] * s[2]});
}

Array runge_kutta(const Array& theta, const Array& s) {
  const double h = 0.005;
  const Array a = lorenz(theta, s), b = lorenz(theta, s + h / 2 * a),
              c = lorenz(theta, s + h / 2 * b), d = lorenz(theta, s + h * c);
  return s + h / 6 * (a + 2.0 * b + 2.0 * c + d);
}

Array end_of_orbit(const Array& theta) {
  return scan(
             [&](const Array& s) {
               return std::pair{runge_kutta(theta, s), none};
             },
             ones({3}), {.length = 60})
      .first;
}

TEST(TinyScan, JacobianOfAnOrbit) {
  const Array theta = array({10.f, 28.f, 8.f / 3});
  const auto stepwise = [](const Array& t) {
    Array s = ones({3});
    for (int i = 0; i < 60; ++i) s = runge_kutta(t, s);
    return s;
  };
  EXPECT_TRUE(allclose(jit(end_of_orbit)(theta), stepwise(theta), {.rtol = 1e-5}));
  EXPECT_TRUE(allclose(jit(jacfwd(end_of_orbit))(theta), jacfwd(stepwise)(theta), {.rtol = 1e-4}));
  const auto length = [](const Array& t) { return sum(square(end_of_orbit(t))); };
  EXPECT_TRUE(allclose(jit(grad(length))(theta), grad(length)(theta), {.rtol = 1e-4}));
}

TEST(TinyScan, SlicesInAndOutBothWays) {
  const Array xs = reshape(arange(42).astype(float32), {7, 2, 3}) / 10.0;
  const Array on = array({true, false, true, true, false, false, true});
  for (const bool reverse : {false, true}) {
    const auto f = [&](const Array& x, const Array& switched) {
      struct Slice {
        Array x, on;
      };
      return scan(
          [](const std::pair<Array, Array>& carry, const Slice& slice) {
            const Array y = tanh(slice.x + carry.first);
            const Array next = where(slice.on, sum(y, 0), carry.first);
            return std::pair{std::pair{next, carry.second + 1}, std::pair{y, slice.on}};
          },
          std::pair{zeros({3}), zeros({}, int32)}, Slice{x, switched}, {.reverse = reverse});
    };
    const auto want = f(xs, on), got = jit(f)(xs, on);
    EXPECT_TRUE(allclose(got.first.first, want.first.first));
    EXPECT_TRUE(all(got.first.second == 7).item<bool>());
    EXPECT_TRUE(allclose(got.second.first, want.second.first));
    EXPECT_TRUE(all(got.second.second == on).item<bool>());
  }
}

}  // namespace tiny_scan_test
}  // namespace spruce
