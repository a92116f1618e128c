// SPDX-License-Identifier: Apache-2.0
// Running products along an axis; floats up to f32 multiply in f64, integers wrap.
#include "spruce/core/cpu/reduce/cumulative.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/primitives/reductions/cumulative_rules.h"

namespace spruce {
namespace {

struct RunningProduct {
  template <class T>
  struct State {
    using Wide = cpu::RunningTotal<T>;
    Wide total;
    void start() { total = 1; }
    T next(T x) {
      total *= static_cast<Wide>(x);
      return static_cast<T>(total);
    }
  };
};

void cumprod_jvp(const JvpArgs& a) {
  const auto& p = a.params.get<CumulativeParams>();
  Array y = a.in[0], t = a.tangents[0];
  const Array one = rules::scalar_of(y.dtype(), 1), zero = rules::scalar_of(y.dtype(), 0);
  a.out[0] = bind1(a.p, a.in, a.params);
  rules::scan_steps(a.in[0], p, [&](int64_t d) {
    const Array y0 = rules::moved(y, p, d, one), t0 = rules::moved(t, p, d, zero);
    t = t0 * y + y0 * t;
    y = y0 * y;
  });
  a.out_tangents[0] = t;
}

}  // namespace

extern constinit const Primitive cumprod_p = {
    .name = "cumprod",
    .shape = rules::cumulative,
    .cpu = cpu::cumulative_kernel<RunningProduct>,
    .jvp = cumprod_jvp,
    .batch = rules::batch_cumulative,
    .samples = rules::cumulative_samples,
    .params = kParamsOf<CumulativeParams>,
};

}  // namespace spruce
