// SPDX-License-Identifier: Apache-2.0
// A parabola that goes on as a line (Huber 1964): see HuberParams.
#include "spruce/core/cpu/elementwise/single_loop.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/activation.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace {

template <class C>
struct Huber {
  C delta, half;
  template <class I>
  SPRUCE_INLINE C call(C x) const {
    const C distance = x < 0 ? -x : x;
    return distance < delta ? C(0.5) * (x * x) : delta * (distance - half);
  }
};

void kernel(const KernelArgs& args) {
  const double delta = args.params.get<HuberParams>().delta;
  cpu::run_single(args, [&]<class C>(C) {
    return Huber<C>{static_cast<C>(delta), static_cast<C>(0.5 * delta)};
  });
}

// The square of what is within delta only: no infinity on the side that is not taken.
std::vector<Array> expand(std::span<const Array> in, const Params& params) {
  const double delta = params.get<HuberParams>().delta;
  const Array distance = abs(in[0]), curved = distance < delta;
  const Array line = delta * (distance - 0.5 * delta);
  return {where(curved, 0.5 * square(where(curved, in[0], 0)), line)};
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const double delta : {1.0, 0.3}) {
    for (Sample s : rules::unary_samples<-20, 20>()) {
      s.params = Params::make(HuberParams{delta});
      all.push_back(s);
    }
  }
  return all;
}

}  // namespace

extern constinit const Primitive huber_p = {
    .name = "huber",
    .shape = rules::same_floating,
    .cpu = kernel,
    .batch = rules::batch_elementwise,
    .samples = samples,
    .params = kParamsOf<HuberParams>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
    .expand = expand,
    .flops = rules::flops_per_output<5>,
};

}  // namespace spruce
