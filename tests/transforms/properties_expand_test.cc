// SPDX-License-Identifier: Apache-2.0
// A fused composite is its slow form: in value, derivatives and maps.
#include <algorithm>

#include "spruce/core/ops/join.h"
#include "spruce/transforms/derive/jvp.h"
#include "spruce/transforms/derive/vjp.h"
#include "spruce/transforms/vmap/vmap.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_expand_test {

std::vector<const Primitive*> composites() {
  std::vector<const Primitive*> all;
  for (const Primitive* p : primitives_with_samples()) {
    if (p->expand != nullptr) all.push_back(p);
  }
  return all;
}

struct Slow {
  Partial f;
  Arrays operator()(const Arrays& x) const {
    Arrays in = f.all;
    for (size_t i = 0; i < f.active.size(); ++i) in[f.active[i]] = x[i];
    return floating(f.c.p->expand(in, f.c.sample.params));
  }
};

using Expand = PerPrimitive;

TEST_P(Expand, IsTheSameFunction) {
  size_t compared = 0;
  for (const Dtype dtype : {float64, float32}) {
    for (const Case& c : all_cases(p(), dtype)) {
      run_case(c, [&] {
        ++compared;
        const Arrays in = inputs(c, 1), want = outputs(c, in);
        expect_close(c.p->expand(in, c.sample.params), want, tolerance(want), "value of the case");
      });
      for (const Partial& f : partials(c)) {
        run_case(c, [&] {
          ++compared;
          const Slow slow{f};
          const Arrays x = f.point(), v = directions(x, 1), ct = directions(f(x), 2);
          const double tol = tolerance(x);
          expect_close(f(x), slow(x), tol, "value");
          const auto forward = [&](const auto& g) {
            return jvp(g, std::tuple<Arrays>(x), std::tuple<Arrays>(v)).second;
          };
          expect_close(forward(f), forward(slow), tol, "jvp");
          expect_close(vjp(f, x).second(ct), vjp(slow, x).second(ct), tol, "vjp");
          Arrays rows;
          for (size_t i = 0; i < x.size(); ++i) rows.push_back(stack({x[i], v[i]}));
          const auto over_rows = [&](const auto& g) {
            return vmap([&](const Arrays& y) { return g(y); })(rows);
          };
          expect_close(over_rows(f), over_rows(slow), tol, "vmap");
        });
      }
    }
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Properties, Expand, testing::ValuesIn(composites()), name_of);

}  // namespace properties_expand_test
}  // namespace spruce::properties
