// SPDX-License-Identifier: Apache-2.0
// The smallest element so far along an axis; NaN from the first one on.
#include "spruce/core/cpu/reduce/cumulative.h"
#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/primitives/reductions/cumulative_rules.h"

namespace spruce {
namespace {

struct RunningMin {
  template <class T>
  struct State {
    T best;
    void start() { best = cpu::Smallest::identity<T>(); }
    T next(T x) { return best = cpu::Smallest::call(best, x); }
  };
};

}  // namespace

extern constinit const Primitive cummin_p = {
    .name = "cummin",
    .shape = rules::cumulative,
    .cpu = cpu::cumulative_kernel<RunningMin>,
    .jvp = rules::jvp_cumulative_extremum,
    .batch = rules::batch_cumulative,
    .samples = rules::cumulative_samples,
    .params = kParamsOf<CumulativeParams>,
};

}  // namespace spruce
