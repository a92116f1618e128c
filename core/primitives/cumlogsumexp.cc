// SPDX-License-Identifier: Apache-2.0
// log(exp(x_0) + ... + exp(x_i)) along an axis, without overflow, computed in f64.
#include <cmath>
#include <limits>

#include "spruce/core/cpu/cumulative.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/cumulative.h"

namespace spruce {
namespace {

struct LogSumExp {
  // The sum is total * exp(top), where top is the largest element so far.
  template <class T>
  struct State {
    double top, total;
    void start() {
      top = -std::numeric_limits<double>::infinity();
      total = 0;
    }
    T next(T value) {
      const double x = static_cast<double>(value);
      if (x == top) {
        total += 1;
      } else if (x < top) {
        total += std::exp(x - top);
      } else {  // NaN too, which stays
        total = total * std::exp(top - x) + 1;
        top = x;
      }
      return static_cast<T>(total == 0 ? top : top + std::log(total));
    }
  };
};

void jvp(const JvpArgs& a) {
  const auto& p = a.params.get<CumulativeParams>();
  Array y = a.in[0], t = a.tangents[0];
  const Array lowest = rules::scalar_of(y.dtype(), -std::numeric_limits<double>::infinity());
  const Array zero = rules::scalar_of(y.dtype(), 0);
  a.out[0] = bind1(a.p, a.in, a.params);
  rules::scan_steps(a.in[0], p, [&](int64_t d) {
    const Array y0 = rules::moved(y, p, d, lowest), t0 = rules::moved(t, p, d, zero);
    const Array both = logaddexp(y0, y), shift = where(isfinite(both), both, zero);
    t = exp(y0 - shift) * t0 + exp(y - shift) * t;
    y = both;
  });
  a.out_tangents[0] = t;
}

}  // namespace

extern constinit const Primitive cumlogsumexp_p = {
    .name = "cumlogsumexp",
    .shape = rules::cumulative_floating,
    .cpu = cpu::cumulative_kernel<LogSumExp, true>,
    .jvp = jvp,
    .batch = rules::batch_cumulative,
    .samples = rules::cumulative_samples,
    .params = kParamsOf<CumulativeParams>,
};

}  // namespace spruce
