// SPDX-License-Identifier: Apache-2.0
// The exponential linear units: elu, celu and selu (see EluParams).
#include "spruce/core/cpu/elementwise/single_loop.h"
#include "spruce/core/cpu/math/exp.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/activation.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace {

template <class C, bool kDivides>
struct Elu {
  C alpha, divisor, scale;
  template <class I>
  SPRUCE_INLINE C call(C x) const {
    const C below = x > 0 ? C{0} : x;
    const C e = alpha * cpu::math::expm1<I>(kDivides ? below / divisor : below);
    return scale * (x > 0 ? x : e);
  }
};

void kernel(const KernelArgs& args) {
  const auto& p = args.params.get<EluParams>();
  const auto run = [&](auto divides) {
    cpu::run_single(args, [&]<class C>(C) {
      return Elu<C, decltype(divides)::value>{static_cast<C>(p.alpha), static_cast<C>(p.divisor),
                                              static_cast<C>(p.scale)};
    });
  };
  p.divisor == 1 ? run(std::false_type()) : run(std::true_type());
}

// With the whole gradient at 0 from below, and no infinity on the side that is not taken.
std::vector<Array> expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<EluParams>();
  const Array &x = in[0], above = x > 0;
  Array below = where(above, 0, x);
  if (p.divisor != 1) below = below / p.divisor;
  const Array y = where(above, x, p.alpha * expm1(below));
  return {p.scale == 1 ? y : p.scale * y};
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const EluParams& p : {EluParams{1, 1, 1}, EluParams{0.5, 0.5, 1}, EluParams{1.6, 1, 1.05}}) {
    for (Sample s : rules::unary_samples<-20, 20>()) {
      s.params = Params::make(p);
      all.push_back(s);
    }
  }
  return all;
}

}  // namespace

extern constinit const Primitive elu_p = {
    .name = "elu",
    .shape = rules::same_floating,
    .cpu = kernel,
    .batch = rules::batch_elementwise,
    .samples = samples,
    .params = kParamsOf<EluParams>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
    .expand = expand,
    .flops = rules::flops_per_output<5>,
};

}  // namespace spruce
