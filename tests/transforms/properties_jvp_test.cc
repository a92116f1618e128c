// SPDX-License-Identifier: Apache-2.0
// Forward mode against central differences in f64, first and second order.
#include "spruce/core/ops/create.h"
#include "spruce/transforms/derive/jvp.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_jvp_test {

constexpr double kDifferences = 1e-6;

// Its derivative is zero by decree.
bool is_stopped(const Primitive& p) { return std::string_view(p.name) == "stop_gradient"; }

Arrays along(const Function& f, const Arrays& x, const Arrays& v) {
  return jvp(f, std::tuple<Arrays>(x), std::tuple<Arrays>(v)).second;
}

using Jvp = PerPrimitive;

TEST_P(Jvp, FirstOrder) {
  for (const Case& c : all_cases(p(), float64)) {
    for (const Partial& f : partials(c)) {
      if (!is_double(f)) continue;
      run_case(c, [&] {
        const Arrays x = f.point(), v = directions(x, 1);
        const auto [out, tangent] = jvp(f, std::tuple<Arrays>(x), std::tuple<Arrays>(v));
        expect_same(out, f(x), "the value");
        Arrays want = differences(f, x, v);
        if (is_stopped(p())) want = {zeros_like(want[0])};
        expect_close(tangent, want, kDifferences, "jvp and differences");
      });
    }
  }
}

TEST_P(Jvp, SecondOrder) {
  for (const Case& c : all_cases(p(), float64)) {
    for (const Partial& f : partials(c)) {
      if (!is_double(f)) continue;
      run_case(c, [&] {
        const Arrays x = f.point(), v = directions(x, 1), w = directions(x, 2);
        const Function first = [&](const Arrays& y) { return along(f, y, v); };
        expect_close(along(first, x, w), differences(first, x, w), kDifferences,
                     "jvp of jvp and differences");
      });
    }
  }
}

TEST_P(Jvp, NarrowDtypesKeepTheirDtype) {
  for (const Dtype dtype : {float32, float16, bfloat16}) {
    for (const Case& c : all_cases(p(), dtype)) {
      for (const Partial& f : partials(c)) {
        run_case(c, [&] {
          const Arrays x = f.point(), v = directions(x, 1);
          const auto [out, tangent] = jvp(f, std::tuple<Arrays>(x), std::tuple<Arrays>(v));
          ASSERT_EQ(out.size(), tangent.size());
          for (size_t k = 0; k < out.size(); ++k)
            EXPECT_EQ(to_string(tangent[k].aval()), to_string(out[k].aval()));
        });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Properties, Jvp, testing::ValuesIn(primitives_with_samples()), name_of);

}  // namespace properties_jvp_test
}  // namespace spruce::properties
