// SPDX-License-Identifier: Apache-2.0
// log(exp(x_0) + ... + exp(x_i)) along an axis, without overflow, computed in f64.
#include <cmath>
#include <limits>

#include "spruce/core/cpu/reduce/cumulative.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/primitives/reductions/cumulative_rules.h"

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

// The sums of exp(x) and of its tangents are kept as multiples of exp(top), because the rounding of
// a large result would show in exp(x - result). The tops have no derivative of their own: what they
// take away they add again.
void cumlogsumexp_jvp(const JvpArgs& a) {
  const auto& p = a.params.get<CumulativeParams>();
  const Array& x = a.in[0];
  const Array lowest = rules::scalar_of(x.dtype(), -std::numeric_limits<double>::infinity());
  const Array zero = rules::scalar_of(x.dtype(), 0), one = rules::scalar_of(x.dtype(), 1);
  const auto shift = [&](const Array& top) { return where(isfinite(top), top, zero); };
  a.out[0] = bind1(a.p, a.in, a.params);
  Array top = bind1(stop_gradient_p, {x}), total = exp(x - shift(top)),
        slope = total * a.tangents[0];
  rules::scan_steps(x, p, [&](int64_t d) {
    const Array top0 = rules::moved(top, p, d, lowest), both = maximum(top0, top), s = shift(both);
    const Array share0 = exp(top0 - s), share = exp(top - s);
    total = share0 * rules::moved(total, p, d, zero) + share * total;
    slope = share0 * rules::moved(slope, p, d, zero) + share * slope;
    top = both;
  });
  const Array empty = equal(total, zero);
  a.out_tangents[0] = where(empty, zero, slope / where(empty, one, total));
}

}  // namespace

extern constinit const Primitive cumlogsumexp_p = {
    .name = "cumlogsumexp",
    .shape = rules::cumulative_floating,
    .cpu = cpu::cumulative_kernel<LogSumExp, true>,
    .jvp = cumlogsumexp_jvp,
    .batch = rules::batch_cumulative,
    .samples = rules::cumulative_samples,
    .params = kParamsOf<CumulativeParams>,
};

}  // namespace spruce
