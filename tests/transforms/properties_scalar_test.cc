// SPDX-License-Identifier: Apache-2.0
// The expression of each elementwise primitive against its kernel, to the last bit.
#include "spruce/core/cpu/isa.h"
#include "spruce/core/scalar/expression.h"
#include "spruce/spruce.h"
#include "tests/transforms/properties.h"
#include "tests/transforms/scalar_interpreter.h"

namespace spruce {
namespace properties_scalar_test {

using properties::Arrays;
using properties::Case;

// The elements as bits.
std::vector<uint64_t> bits_of(const Array& x) {
  const Array flat = reshape(x, {-1});
  return visit_dtype(x.dtype(), [&]<class T>(T) {
    std::vector<uint64_t> all;
    if constexpr (std::is_same_v<T, bool>) {
      for (const int32_t b : astype(flat, int32).to_vector<int32_t>()) all.push_back(b != 0);
    } else {
      const auto add = [&]<class U>(U) {
        for (const U b : bitcast(flat, dtype_of<U>()).template to_vector<U>()) all.push_back(b);
      };
      if constexpr (sizeof(T) == 1) add(uint8_t{});
      if constexpr (sizeof(T) == 2) add(uint16_t{});
      if constexpr (sizeof(T) == 4) add(uint32_t{});
      if constexpr (sizeof(T) == 8) add(uint64_t{});
    }
    return all;
  });
}

bool is_nan(Dtype d, uint64_t bits) {
  switch (d) {
    case Dtype::kFloat16:
      return (bits & 0x7fff) > 0x7c00;
    case Dtype::kBfloat16:
      return (bits & 0x7fff) > 0x7f80;
    case Dtype::kFloat32:
      return (bits & 0x7fffffff) > 0x7f800000;
    case Dtype::kFloat64:
      return (bits & ~(uint64_t{1} << 63)) > 0x7ff0000000000000;
    default:
      return false;
  }
}

// erf of 32 bits and less has a table where it stands alone on AVX-512.
bool has_other_steps(const Primitive& p, Dtype d) {
  return std::string_view(p.name) == "erf" && d != Dtype::kFloat64 &&
         cpu::isa_level() == cpu::IsaLevel::kV4;
}

void expect_expression(const Primitive& p, const Params& params, const Arrays& in) {
  const Array out = bind1(p, in, params);
  scalar::Program program;
  std::vector<int> values;
  std::vector<std::vector<uint64_t>> bits;
  for (const Array& x : in) {
    values.push_back(program.input(x.dtype(), static_cast<int>(values.size())));
    bits.push_back(bits_of(broadcast_to(x, out.shape())));
  }
  const int result = p.scalar({program, values, out.dtype(), params});
  ASSERT_GE(result, 0);
  ASSERT_EQ(program.dtype(result), out.dtype());
  const std::vector<uint64_t> want = bits_of(out);
  for (size_t i = 0; i < want.size(); ++i) {
    std::vector<uint64_t> element;
    for (const auto& list : bits) element.push_back(list[i]);
    const uint64_t got = scalar_interpreter::evaluate(program, result, element);
    if (is_nan(out.dtype(), want[i])) {
      ASSERT_TRUE(is_nan(out.dtype(), got)) << i;
    } else if (has_other_steps(p, out.dtype())) {
      ASSERT_LE(got > want[i] ? got - want[i] : want[i] - got, 4u) << i;
    } else {
      ASSERT_EQ(got, want[i]) << "element " << i << " of " << want.size() << ", input "
                              << element[0];
    }
  }
}

class Scalar : public properties::PerPrimitive {};

TEST_P(Scalar, ExpressionIsTheKernel) {
  // Expressions have fused multiply-adds.
  if (cpu::isa_level() == cpu::IsaLevel::kBase) GTEST_SKIP();
  ASSERT_NE(p().scalar, nullptr);
  std::vector<Case> cases = properties::integer_cases(p());
  for (const Dtype d : {float32, float64, float16, bfloat16}) {
    for (const Case& c : properties::all_cases(p(), d)) cases.push_back(c);
  }
  for (const Case& c : cases)
    properties::run_case(c,
                         [&] { expect_expression(p(), c.sample.params, properties::inputs(c)); });
}

// Zeros, infinities, NaN, ends of ranges, and floats of all sizes.
TEST_P(Scalar, ExpressionIsTheKernelAtSpecialNumbers) {
  if (cpu::isa_level() == cpu::IsaLevel::kBase) GTEST_SKIP();
  const std::vector<Case> cases = properties::cases_in(p(), float32);
  if (cases.empty() || cases[0].sample.in[0].aval.dtype != float32) return;
  std::vector<double> numbers = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, 1, -1, 2, 0.5, 150, -40};
  for (int e = -1070; e < 1020; e += 13) {
    for (const double m : {1.37, -1.9}) numbers.push_back(std::ldexp(m, e));
  }
  for (const Dtype d : {float32, float64, float16, bfloat16}) {
    const Array x = astype(array(numbers), d);
    const size_t n = cases[0].sample.in.size();
    Arrays in = {x};
    for (size_t k = 1; k < n; ++k) in.push_back(roll(x, static_cast<int64_t>(3 * k)));
    SCOPED_TRACE(name(d));
    expect_expression(p(), cases[0].sample.params, in);
    if (n == 2) expect_expression(p(), cases[0].sample.params, {reshape(x, {-1, 1}), x});
    if (HasFatalFailure()) return;
  }
}

std::vector<const Primitive*> elementwise() {
  std::vector<const Primitive*> all;
  for (const Primitive* p : all_primitives()) {
    if (p->kind == PrimitiveKind::kElementwise || p->scalar != nullptr) all.push_back(p);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Primitives, Scalar, testing::ValuesIn(elementwise()), properties::name_of);

}  // namespace properties_scalar_test
}  // namespace spruce
