// SPDX-License-Identifier: Apache-2.0
// The largest element so far along an axis; NaN from the first one on.
#include "spruce/core/cpu/reduce/cumulative.h"
#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/primitives/reductions/cumulative_rules.h"

namespace spruce {
namespace {

struct RunningMax {
  template <class T>
  struct State {
    T best;
    void start() { best = cpu::Largest::identity<T>(); }
    T next(T x) { return best = cpu::Largest::call(best, x); }
  };
};

}  // namespace

extern constinit const Primitive cummax_p = {
    .name = "cummax",
    .shape = rules::cumulative,
    .cpu = cpu::cumulative_kernel<RunningMax>,
    .jvp = rules::jvp_cumulative_extremum,
    .batch = rules::batch_cumulative,
    .samples = rules::cumulative_samples,
    .params = kParamsOf<CumulativeParams>,
};

}  // namespace spruce
