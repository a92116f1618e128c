// SPDX-License-Identifier: Apache-2.0
// A call of a compiled function allocates its results and nothing else.
#include "spruce/transforms/compile/jit.h"
#include "tests/transforms/allocations.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_allocations_test {

using Allocations = PerPrimitive;

TEST_P(Allocations, AreThoseOfResults) {
  std::vector<Case> cases = all_cases(p(), float32);
  for (const Dtype dtype : {float64, bfloat16}) {
    for (Case& c : cases_in(p(), dtype)) cases.push_back(std::move(c));
  }
  for (Case& c : integer_cases(p())) cases.push_back(std::move(c));
  const OneThread one;
  for (const Case& c : cases) {
    run_case(c, [&] {
      const Arrays in = inputs(c);
      const auto compiled = jit([c](const Arrays& x) { return outputs(c, x); });
      const size_t results = compiled(in).size();
      const Allocated more = allocated_by([&] { return compiled(in); });
      EXPECT_LE(more.heap, 1);  // the vector of the results
      EXPECT_LE(more.arrays, 2 * static_cast<int64_t>(results));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Properties, Allocations, testing::ValuesIn(primitives_with_samples()),
                         name_of);

}  // namespace properties_allocations_test
}  // namespace spruce::properties
