// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/loops/map.h"

#include "spruce/transforms/control/loops/associative_scan.h"
#include "tests/transforms/control/twins.h"

namespace spruce::control {
namespace map_test {

TEST(Map, IsVmapOneByOne) {
  const auto each = [](const Arrays& in) {
    return [&in](const std::pair<Array, Array>& x) { return sum(x.first * in[0]) * sin(x.second); };
  };
  expect_twins({"map",
                [=](const Arrays& in) {
                  return map(each(in), std::pair{in[1], in[2]});
                },
                [=](const Arrays& in) {
                  return vmap(each(in))(std::pair{in[1], in[2]});
                },
                {numbers({2}, 1), numbers({4, 2}, 2), numbers({4}, 3)}});
}

TEST(AssociativeScan, EqualsTheLoop) {
  const auto affine = [](const std::pair<Array, Array>& f, const std::pair<Array, Array>& g) {
    return std::pair{f.first * g.first, g.first * f.second + g.second};
  };
  for (const bool reverse : {false, true}) {
    for (int64_t n = 1; n < 10; ++n) {
      const Twins t{"associative_scan of " + std::to_string(n),
                    [=](const Arrays& in) {
                      const auto [a, b] =
                          associative_scan(affine, std::pair{in[0], in[1]}, {.reverse = reverse});
                      return a + b;
                    },
                    [=](const Arrays& in) {
                      Arrays out(static_cast<size_t>(n));
                      std::pair<Array, Array> c;
                      for (int64_t k = 0; k < n; ++k) {
                        const int64_t i = reverse ? n - 1 - k : k;
                        const std::pair x{in[0][i], in[1][i]};
                        c = k == 0 ? x : reverse ? affine(x, c) : affine(c, x);
                        out[static_cast<size_t>(i)] = c.first + c.second;
                      }
                      return stack(out);
                    },
                    {numbers({n}, 1), numbers({n}, 2)}};
      if (n == 5)
        expect_twins(t);
      else
        expect_close(t.loop(t.at), t.plain(t.at), t.name);
    }
  }
  EXPECT_EQ(associative_scan(affine, std::pair{zeros({0}), zeros({0})}).first.shape(), Shape{0});
}

TEST(AssociativeScan, IsCumsumForSums) {
  const Array x = numbers({37, 2}, 3);
  expect_close(associative_scan(add, x), cumsum(x, 0), "sums");
}

}  // namespace map_test
}  // namespace spruce::control
