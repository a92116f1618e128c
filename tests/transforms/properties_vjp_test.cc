// SPDX-License-Identifier: Apache-2.0
// Reverse mode is the transpose of forward mode: <ct, J v> = <J' ct, v>, first and second order.
#include "spruce/transforms/derive/jvp.h"
#include "spruce/transforms/derive/vjp.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_vjp_test {

Arrays along(const Function& f, const Arrays& x, const Arrays& v) {
  return jvp(f, std::tuple<Arrays>(x), std::tuple<Arrays>(v)).second;
}

void expect_transposed(const Function& f, const Arrays& x, std::string_view what) {
  const Arrays v = directions(x, 3);
  const auto [out, tangent] = jvp(f, std::tuple<Arrays>(x), std::tuple<Arrays>(v));
  const auto [value, pullback] = vjp(f, x);
  expect_same(value, out, "the value");
  const Arrays ct = directions(value, 4), back = pullback(ct);
  ASSERT_EQ(back.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(to_string(back[i].aval()), to_string(x[i].aval()));
  Arrays both = x;
  both.insert(both.end(), out.begin(), out.end());
  expect_near(dot(ct, tangent), dot(back, v), tolerance(both), what);
}

using Vjp = PerPrimitive;

TEST_P(Vjp, IsTheTransposeOfJvp) {
  for (const Dtype dtype : {float64, float32}) {
    for (const Case& c : all_cases(p(), dtype)) {
      for (const Partial& f : partials(c)) {
        run_case(c, [&] { expect_transposed(f, f.point(), "<ct, J v> and <J' ct, v>"); });
      }
    }
  }
}

TEST_P(Vjp, OfJvpAndOfVjp) {
  for (const Case& c : all_cases(p(), float64)) {
    for (const Partial& f : partials(c)) {
      run_case(c, [&] {
        const Arrays x = f.point(), v = directions(x, 5), ct = directions(f(x), 6);
        expect_transposed([&](const Arrays& y) { return along(f, y, v); }, x, "vjp of jvp");
        const Function gradient = [&](const Arrays& y) { return vjp(f, y).second(ct); };
        expect_transposed(gradient, x, "vjp of vjp");
        if (is_double(f)) {
          expect_close(along(gradient, x, v), differences(gradient, x, v), 1e-6, "jvp of vjp");
        }
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Properties, Vjp, testing::ValuesIn(primitives_with_samples()), name_of);

}  // namespace properties_vjp_test
}  // namespace spruce::properties
