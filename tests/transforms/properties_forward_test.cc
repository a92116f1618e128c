// SPDX-License-Identifier: Apache-2.0
// Values: the shape rule tells what evaluation gives, in every dtype that a primitive takes, and
// the narrow floating dtypes are near f64.
#include <cmath>
#include <limits>

#include "spruce/core/ops/shape.h"
#include "spruce/transforms/compile/jit.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_forward_test {

std::vector<Case> cases_of_all_dtypes(const Primitive& p) {
  std::vector<Case> cases = all_cases(p, float32);
  for (const Dtype d : {float16, bfloat16, float64}) {
    for (Case& c : cases_in(p, d)) cases.push_back(std::move(c));
  }
  for (Case& c : integer_cases(p)) cases.push_back(std::move(c));
  return cases;
}

// Half precision has neither the range nor the digits of f64: what overflows must be infinite.
void expect_rounded(const Array& got, const Array& exact, Dtype dtype) {
  const double eps = dtype == float32 ? 0x1p-23 : dtype == float16 ? 0x1p-10 : 0x1p-7;
  const double largest = dtype == float16 ? 65504 : std::numeric_limits<float>::max();
  const std::vector<double> a = astype(got, float64).to_vector<double>(),
                            b = astype(exact, float64).to_vector<double>();
  ASSERT_EQ(a.size(), b.size());
  double scale = 1;
  for (const double x : b) scale = std::isfinite(x) ? std::max(scale, std::abs(x)) : scale;
  for (size_t k = 0; k < a.size(); ++k) {
    const bool overflows = std::abs(b[k]) > largest * (1 - eps);
    ASSERT_TRUE(a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])) ||
                std::abs(a[k] - b[k]) <= 6 * eps * scale ||
                (overflows && std::abs(a[k]) >= largest * (1 - eps) &&
                 std::signbit(a[k]) == std::signbit(b[k])))
        << "element " << k << ": " << a[k] << ", in f64 " << b[k];
  }
}

using Forward = PerPrimitive;

TEST_P(Forward, AbstractEvaluationAgrees) {
  for (const Case& c : cases_of_all_dtypes(p())) {
    run_case(c, [&] {
      const Arrays in = inputs(c), out = outputs(c, in);
      std::vector<const Aval*> types;
      for (const Array& a : in) types.push_back(&a.aval());
      const std::vector<Aval> said = output_avals(*c.p, types, c.sample.params);
      ASSERT_EQ(said.size(), out.size());
      for (size_t k = 0; k < said.size(); ++k)
        EXPECT_EQ(to_string(said[k]), to_string(out[k].aval()));
      const Graph graph = make_graph([&](const Arrays& x) { return outputs(c, x); })(in);
      check(graph);
      ASSERT_EQ(graph.outputs.size(), out.size());
      for (size_t k = 0; k < out.size(); ++k) {
        EXPECT_EQ(to_string(graph.avals[static_cast<size_t>(graph.outputs[k])]),
                  to_string(out[k].aval()));
      }
      expect_same(evaluate(graph, in), out, "the graph");
    });
  }
}

TEST_P(Forward, NarrowDtypesAreNearDouble) {
  for (const Dtype dtype : {float32, float16, bfloat16}) {
    for (const Case& c : cases_in(p(), dtype)) {
      run_case(c, [&] {
        const Arrays in = inputs(c);
        Arrays wide;
        for (const Array& a : in) wide.push_back(a.dtype() == dtype ? astype(a, float64) : a);
        const Arrays got = outputs(c, in), exact = outputs(c, wide);
        ASSERT_EQ(got.size(), exact.size());
        for (size_t k = 0; k < got.size(); ++k) {
          if (got[k].dtype() == exact[k].dtype()) {
            expect_same({got[k]}, {exact[k]}, "does not depend on the dtype of the inputs");
          } else {
            EXPECT_EQ(got[k].dtype(), dtype);
            expect_rounded(got[k], exact[k], dtype);
          }
        }
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Properties, Forward, testing::ValuesIn(primitives_with_samples()),
                         name_of);

}  // namespace properties_forward_test
}  // namespace spruce::properties
