// SPDX-License-Identifier: Apache-2.0
// a - b * trunc(a / b), with the sign of a. Of integers, rem(a, 0) is a.
#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/division.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

struct Rem {
  template <class I, class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (scalar::Floating<T>) {
      return math::fmod<I>(a, b);
    } else if constexpr (I::kHasFma && sizeof(T) == 4) {
      bool simple = b == 0;
      if constexpr (std::is_signed_v<T>) simple = simple | (b == -1);
      const T divisor = simple ? T{1} : b;
      const T rest = a - math::quotient(a, divisor) * divisor;
      return b == 0 ? a : rest;
    } else {
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return T{0};
      }
      return static_cast<T>(a % b);
    }
  }
};

int rem_expression(const ScalarArgs& a) {
  return is_floating(a.out) ? scalar::binary<Rem, cpu::Types::kFloating>(a)
                            : scalar::apply(scalar::Op::kRem, a);
}

// Away from the jumps, where both may be non-zero.
std::vector<Sample> rem_samples() {
  Sample s;
  for (const std::vector<double>& values :
       {std::vector<double>{-1.9, -0.7, 0.4, 1.7, 2.9, 3.3}, {0.6, -0.5, 1.5, 1.2, 0.7, -2.1}}) {
    SampleInput in;
    in.aval = Aval{Dtype::kFloat32, false, Shape{2, 3}};
    in.values = values;
    s.in.push_back(in);
  }
  return rules::joined({s}, rules::integer_binary_samples<-9, 9>());
}

}  // namespace

extern constinit const Primitive rem_p = {
    .name = "rem",
    .public_name = "fmod",
    .shape = rules::broadcast_numeric,
    .cpu = cpu::binary_kernel<Rem, cpu::Types::kNumeric>,
    .scalar = rem_expression,
    .jvp = rules::jvp_binary<[](const Array&, const Array&, const Array&, const Array& t) {
      return t;
    },
                             [](const Array& a, const Array& b, const Array&, const Array& t) {
                               return t * -trunc(a / b);
                             }>,
    .batch = rules::batch_elementwise,
    .samples = rem_samples,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
