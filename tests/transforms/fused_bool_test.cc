// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives of bool, each fused with each that takes its result: what is compiled, by
// the code generators and by the portable interpreter of stages, is what evaluation gives.
#include <gtest/gtest.h>

#include "spruce/core/cpu/fusion/stage.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/compile/jit.h"
#include "tests/transforms/properties.h"

namespace spruce {
namespace fused_bool_test {

using properties::Arrays;

// One way to apply a primitive to operands of some dtypes.
struct Use {
  const Primitive* p;
  Params params;
  std::vector<Dtype> in;
  Dtype out;

  std::string text() const {
    std::string s = p->name;
    for (const Dtype d : in) s += " " + std::string(name(d));
    return s + " -> " + std::string(name(out));
  }
};

// Samples of elementwise primitives from the registry, every operand of a floating or integer
// dtype as f32, i32, u32, f64 and bool, as far as the primitive takes them; conversions to and from
// each dtype.
const std::vector<Use>& uses() {
  static const std::vector<Use> all = [] {
    std::vector<Use> made;
    const auto add = [&](const Primitive& p, const Params& params, const std::vector<Dtype>& in) {
      std::vector<Aval> types;
      for (const Dtype d : in) types.push_back({d, false, Shape{3}});
      std::vector<const Aval*> pointers;
      for (const Aval& a : types) pointers.push_back(&a);
      try {
        const std::vector<Aval> out = output_avals(p, pointers, params);
        const Use use{&p, params, in, out[0].dtype};
        for (const Use& u : made) {
          if (u.text() == use.text() && u.params.text() == params.text()) return;
        }
        if (out.size() == 1) made.push_back(use);
      } catch (const Error&) {
      }
    };
    for (const Primitive* p : properties::primitives_with_samples()) {
      if (p->kind != PrimitiveKind::kElementwise || p->cpu == nullptr) continue;
      for (const Sample& s : p->samples()) {
        for (const Dtype d : {bool_, int32, uint32, float32, float64, uint8}) {
          std::vector<Dtype> in;
          for (const SampleInput& i : s.in) in.push_back(is_bool(i.aval.dtype) ? bool_ : d);
          add(*p, s.params, in);
        }
      }
    }
    for (const Dtype from : {bool_, int32, uint32, float32, float64, uint8}) {
      for (const Dtype to : {bool_, int32, uint32, float32, float64, uint8})
        add(convert_element_type_p, Params::make(ConvertParams{to, false}), {from});
    }
    return made;
  }();
  return all;
}

bool has_bool(const Use& u) {
  return is_bool(u.out) || std::any_of(u.in.begin(), u.in.end(), is_bool);
}

// The numbers that are false, true and neither as bytes or words.
Array operand(Dtype d, int64_t n, int seed) {
  std::vector<double> x;
  for (int64_t i = 0; i < n; ++i) {
    constexpr double kValues[] = {0, 1, 2, 0, 3, 255, 0, 1, 128, 4, 0};
    x.push_back(kValues[(i * (seed + 1) + seed) % 11]);
  }
  return astype(array(x), d);
}

constexpr int64_t kSizes[] = {3, 40};  // a tiny graph; whole vectors and a rest

// outer(.., inner(..), ..) with the result of `inner` as operand k.
void expect_chain(const Use& inner, const Use& outer, size_t k) {
  const auto f = [&](const Arrays& x) {
    Arrays in(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(inner.in.size()));
    const Array middle = bind1(*inner.p, in, inner.params);
    Arrays next(x.begin() + static_cast<std::ptrdiff_t>(inner.in.size()), x.end());
    next[k] = middle;
    return Arrays{bind1(*outer.p, next, outer.params), copy(middle)};
  };
  for (const int64_t n : kSizes) {
    Arrays x;
    for (const Dtype d : inner.in) x.push_back(operand(d, n, static_cast<int>(x.size())));
    for (const Dtype d : outer.in) x.push_back(operand(d, n, static_cast<int>(x.size())));
    const Arrays got = jit(f)(x), want = f(x);
    const std::string what = inner.text() + ", then " + outer.text();
    ASSERT_EQ(got.size(), want.size()) << what;
    for (size_t i = 0; i < got.size(); ++i) {
      // With AVX-512 the kernel of erf has another approximation than the generated code.
      if (want[i].dtype() == float32)
        properties::expect_close({got[i]}, {want[i]}, 0x1p-23, what);
      else
        properties::expect_same({got[i]}, {want[i]}, what);
    }
  }
}

TEST(FusedBool, EachPrimitiveWithEachThatTakesItsResult) {
  int chains = 0;
  for (const Use& inner : uses()) {
    for (const Use& outer : uses()) {
      if (!has_bool(inner) && !has_bool(outer)) continue;
      for (size_t k = 0; k < outer.in.size(); ++k) {
        // What is computed of numbers alone matters where it gives a bool or is given one.
        if (outer.in[k] != inner.out || !(is_bool(inner.out) || has_bool(inner))) continue;
        expect_chain(inner, outer, k);
        ++chains;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(chains, 1000);
}

// Every stage of one operation that machine code is made for gives what the interpreter gives.
TEST(FusedBool, BytesAreZeroOrOneInEveryGenerator) {
  for (const Use& use : uses()) {
    if (!is_bool(use.out)) continue;
    cpu::Stage stage;
    std::vector<int> in;
    Arrays x;
    for (const Dtype d : use.in) {
      in.push_back(static_cast<int>(x.size()));
      stage.inputs.push_back({d});
      x.push_back(operand(d, 40, static_cast<int>(x.size())));
    }
    stage.ops.push_back({use.p, use.params, in, use.out});
    stage.outputs.push_back({static_cast<int>(use.in.size())});
    std::vector<std::unique_ptr<const cpu::StageKernel>> kernels;
    kernels.push_back(cpu::make_stage_tape(stage));
    for (const auto level : {cpu::IsaLevel::kV3, cpu::IsaLevel::kV4}) {
      if (level <= cpu::isa_level()) kernels.push_back(cpu::make_stage_x64(stage, level));
    }
    const Array want = bind1(*use.p, x, use.params);
    for (const auto& kernel : kernels) {
      if (kernel == nullptr) continue;
      const Array got = zeros({40}, bool_),
                  workspace = zeros({static_cast<int64_t>(kernel->workspace_bytes()) + 64}, uint8);
      std::vector<const void*> from;
      for (const Array& a : x) from.push_back(internal::mutable_data(a));
      void* to = internal::mutable_data(got);
      char* memory = static_cast<char*>(internal::mutable_data(workspace));
      memory += (64 - reinterpret_cast<uintptr_t>(memory) % 64) % 64;
      kernel->run(from.data(), &to, nullptr, 40, memory);
      properties::expect_same({got}, {want}, use.text());
      const auto* bytes = static_cast<const uint8_t*>(internal::mutable_data(got));
      for (int i = 0; i < 40; ++i) ASSERT_LE(bytes[i], 1) << use.text();
    }
  }
}

TEST(FusedBool, AbsOfABoolIsThatBool) {
  const Array x = array({-1.0f, 2.0f, 0.0f, 3.0f, -4.0f, 5.0f, 6.0f, -7.0f, 8.0f});
  const auto sum = [](const Array& a) { return astype(abs(a > 0.0f), float32) + a; };
  EXPECT_EQ(jit(sum)(x).to_vector<float>(), sum(x).to_vector<float>());
  const auto choice = [](const Array& a) { return where(abs(a > 0.0f), a, 2.0f * a); };
  EXPECT_EQ(jit(choice)(x).to_vector<float>(), choice(x).to_vector<float>());
}

}  // namespace fused_bool_test
}  // namespace spruce
