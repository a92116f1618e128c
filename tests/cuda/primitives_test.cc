// SPDX-License-Identifier: Apache-2.0
// Every primitive on cuda:0 (the emulator), on the samples of the property suite in all dtypes: at
// once, with numbers of the host among the inputs, and compiled; against the CPU.
#include <gtest/gtest.h>

#include "spruce/cuda/plan/steps.h"
#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"
#include "tests/cuda/emulator/emulator.h"
#include "tests/transforms/properties.h"

namespace spruce {
namespace cuda_primitives_test {

using properties::Arrays;
using properties::Case;
using test_device::emulated_device;

Arrays there(const Arrays& a, bool numbers_too) {
  Arrays out;
  for (const Array& x : a) {
    const bool moves = numbers_too || x.rank() > 0;
    out.push_back(moves ? to_device(x, emulated_device()) : x);
  }
  return out;
}

Arrays back(const Arrays& a) {
  Arrays out;
  for (const Array& x : a) out.push_back(to_device(x, cpu_device()));
  return out;
}

bool is_random(const Primitive& p) { return std::string_view(p.name).substr(0, 7) == "random_"; }

void expect(const Case& c, const Arrays& got, const Arrays& want, std::string_view what) {
  if (is_random(*c.p) && !is_floating(want[0].dtype()))
    properties::expect_same(back(got), want, what);
  else
    properties::expect_close(back(got), want, properties::tolerance(want), what);
}

class CudaPrimitives : public properties::PerPrimitive {};

// At once, with numbers of the host, and compiled.
void check(const Case& c, bool compiled_too) {
  properties::run_case(c, [&] {
    const Arrays in = properties::inputs(c);
    const Arrays want = properties::outputs(c, in);
    const Arrays moved = there(in, true), mixed = there(in, false);
    const auto on = DefaultDevice(emulated_device());
    expect(c, properties::outputs(c, moved), want, "at once");
    expect(c, properties::outputs(c, mixed), want, "with numbers of the host");
    if (!compiled_too) return;
    const auto compiled = jit([&](const Arrays& x) { return properties::outputs(c, x); });
    for (int i = 0; i < 3; ++i) expect(c, compiled(moved), want, "compiled");
  });
}

TEST_P(CudaPrimitives, AreAsOnTheCpu) {
  for (const Case& c : properties::all_cases(p(), float32)) check(c, true);
}

// Blocks and threads in five orders: the same bits each time.
TEST_P(CudaPrimitives, DoNotDependOnTheOrderOfThreads) {
  for (const Case& c : properties::all_cases(p(), float32)) {
    properties::run_case(c, [&] {
      const auto on = DefaultDevice(emulated_device());
      const Arrays in = there(properties::inputs(c), true);
      Arrays first;
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        cuda_emulator::set_seed(seed);
        const Arrays got = back(properties::outputs(c, in));
        if (seed == 1)
          first = got;
        else
          properties::expect_same(got, first, "in another order");
      }
    });
  }
}

// Each dtype is another text, which the host's compiler takes a fifth of a second for: the first
// samples of each.
TEST_P(CudaPrimitives, TakeAllDtypes) {
  constexpr size_t kSamples = 2;
  std::vector<Case> cases = properties::integer_cases(p());
  for (const Dtype d : {float64, float16, bfloat16}) {
    for (Case& c : properties::cases_in(p(), d)) cases.push_back(std::move(c));
  }
  for (const Case& c : cases) {
    if (c.number < kSamples) check(c, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaPrimitives,
                         testing::ValuesIn(properties::primitives_with_samples()),
                         properties::name_of);

// Which of them run on the host, by name: the list is to become empty.
TEST(CudaRegistry, PrimitivesWithoutAKernel) {
  std::string missing;
  for (const Primitive* p : properties::primitives_with_samples()) {
    if (p->kind == PrimitiveKind::kView || p->call != nullptr) continue;
    for (const Case& c : properties::all_cases(*p, float32)) {
      std::vector<Aval> types;
      for (const SampleInput& in : c.sample.in) {
        types.push_back(in.aval);
        types.back().device = emulated_device().index();
      }
      std::vector<const Aval*> in, out;
      for (const Aval& a : types) in.push_back(&a);
      const std::vector<Aval> results = output_avals(*p, in, c.sample.params);
      for (const Aval& a : results) out.push_back(&a);
      bool known = true;
      (void)cuda::kernels_of(*p, {in, out, c.sample.params}, known);
      if (known) continue;
      missing += std::string(p->name) + " ";
      break;
    }
  }
  EXPECT_EQ(missing, "");
}

}  // namespace cuda_primitives_test
}  // namespace spruce
