// SPDX-License-Identifier: Apache-2.0
// x * Phi(x) with the error function, or with its tanh form (Hendrycks and Gimpel 2016).
#include "spruce/core/rules/gelu.h"

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/math.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

// In f64 the forms that keep their digits far below 0, where 1 + erf and 1 + tanh cancel.
constexpr double kInvSqrt2 = 0.70710678118654752440, kSqrt2OverPi = 0.79788456080286535588,
                 kCubic = 0.044715;

struct GeluErf {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (scalar::Float64<T>)
      return 0.5 * x * math::erfc<I, T>(-x * kInvSqrt2);
    else
      return T(0.5) * x * (T(1) + math::erf<I, T>(x * T(kInvSqrt2)));
  }
};

struct GeluTanh {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    const T y = T(kSqrt2OverPi) * (x + T(kCubic) * x * x * x);
    if constexpr (scalar::Float64<T>)
      return x * math::logistic<I, T>(2 * y);
    else
      return T(0.5) * x * (T(1) + math::tanh<I>(y));
  }
};

cpu::UnaryLoop gelu_loop(const cpu::LoopArgs& a) {
  return a.params.get<GeluParams>().tanh ? cpu::unary_loop<GeluTanh, cpu::Types::kFloating>(a)
                                         : cpu::unary_loop<GeluErf, cpu::Types::kFloating>(a);
}

int gelu_expression(const ScalarArgs& a) {
  return a.params.get<GeluParams>().tanh ? scalar::unary<GeluTanh, cpu::Types::kFloating>(a)
                                         : scalar::unary<GeluErf, cpu::Types::kFloating>(a);
}

std::vector<Array> gelu_expand(std::span<const Array> in, const Params& params) {
  const Array& x = in[0];
  const bool wide = x.dtype() == Dtype::kFloat64;
  if (params.get<GeluParams>().tanh) {
    const Array y = kSqrt2OverPi * (x + kCubic * (x * x * x));
    return {wide ? x * logistic(2.0 * y) : 0.5 * x * (1.0 + tanh(y))};
  }
  return {0.5 * x * (wide ? erfc(-x * kInvSqrt2) : 1.0 + erf(x * kInvSqrt2))};
}

std::vector<Sample> gelu_samples() {
  std::vector<Sample> out;
  for (const bool tanh : {false, true}) {
    for (Sample s : rules::unary_samples<-30, 30>()) {
      s.params = Params::make(GeluParams{tanh});
      out.push_back(s);
    }
  }
  return out;
}

}  // namespace

extern constinit const Primitive gelu_p = {
    .name = "gelu",
    .shape = rules::same_floating,
    .cpu = cpu::loop_kernel<gelu_loop>,
    .scalar = gelu_expression,
    .batch = rules::batch_elementwise,
    .samples = gelu_samples,
    .params = kParamsOf<GeluParams>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
    .expand = gelu_expand,
    .flops = rules::flops_per_output<8>,
};

}  // namespace spruce
