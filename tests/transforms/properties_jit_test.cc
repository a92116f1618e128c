// SPDX-License-Identifier: Apache-2.0
// jit gives what evaluation gives, for values and derivatives, and traces once.
#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/derive/jvp.h"
#include "spruce/transforms/derive/vjp.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_jit_test {

using Jit = PerPrimitive;

TEST_P(Jit, IsEvaluationAndTracesOnce) {
  std::vector<Case> cases = all_cases(p(), float32);
  for (Case& c : cases_in(p(), float64)) cases.push_back(std::move(c));
  for (const Case& c : cases) {
    run_case(c, [&] {
      const auto compiled = jit([c](const Arrays& x) { return outputs(c, x); });
      // What has no kernel is compiled as its parts, which passes may put in another order.
      const bool in_parts = c.p->cpu == nullptr && c.p->expand != nullptr;
      const auto expect = [&](const Arrays& got, const Arrays& want, const char* what) {
        in_parts ? expect_close(got, want, tolerance(want), what) : expect_same(got, want, what);
      };
      for (int draw = 0; draw < 2; ++draw) {
        Arrays in = inputs(c, draw);
        const Arrays want = outputs(c, in);
        expect(compiled(in), want, "jit");
        expect(compiled(std::move(in)), want, "jit of moved inputs");
      }
      EXPECT_EQ(compiled.trace_count(), 1);
    });
  }
}

TEST_P(Jit, DerivativesAreThoseOfEvaluation) {
  for (const Case& c : all_cases(p(), float32)) {
    for (const Partial& f : partials(c)) {
      run_case(c, [&] {
        const Arrays x = f.point(), v = directions(x, 1), ct = directions(f(x), 2);
        const auto forward = [&](const auto& g) {
          return jvp(g, std::tuple<Arrays>(x), std::tuple<Arrays>(v)).second;
        };
        const auto compiled = jit(f);
        const double tol = tolerance(f(x));
        expect_close(forward(compiled), forward(f), tol, "jvp of jit");
        const Arrays gradient = vjp(f, x).second(ct);
        expect_close(vjp(compiled, x).second(ct), gradient, tol, "vjp of jit");
        const auto pulled =
            jit([f](const Arrays& y, const Arrays& t) { return vjp(f, y).second(t); });
        expect_close(pulled(x, ct), gradient, tol, "jit of vjp");
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Properties, Jit, testing::ValuesIn(primitives_with_samples()), name_of);

}  // namespace properties_jit_test
}  // namespace spruce::properties
