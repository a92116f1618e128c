// SPDX-License-Identifier: Apache-2.0
// Running sums along an axis; floats up to f32 add up in f64, integers wrap.
#include "spruce/core/cpu/reduce/cumulative.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {
namespace {

struct Sum {
  template <class T>
  struct State {
    using Wide = cpu::RunningTotal<T>;
    Wide total;
    void start() { total = 0; }
    T next(T x) {
      total += static_cast<Wide>(x);
      return static_cast<T>(total);
    }
  };
};

void transpose(const TransposeArgs& a) {
  CumulativeParams p = a.params.get<CumulativeParams>();
  p.reverse = !p.reverse;
  a.out[0] = bind1(a.p, {a.cts[0]}, Params::make(p));
}

}  // namespace

extern constinit const Primitive cumsum_p = {
    .name = "cumsum",
    .shape = rules::cumulative,
    .cpu = cpu::cumulative_kernel<Sum>,
    .jvp = rules::jvp_linear,
    .transpose = transpose,
    .batch = rules::batch_cumulative,
    .samples = rules::cumulative_samples,
    .params = kParamsOf<CumulativeParams>,
};

}  // namespace spruce
