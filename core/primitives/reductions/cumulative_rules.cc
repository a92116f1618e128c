// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/primitives/reductions/cumulative_rules.h"

#include <limits>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"

namespace spruce::rules {

Array moved(const Array& x, const CumulativeParams& p, int64_t distance, const Array& fill) {
  return pad_axis(x, fill, static_cast<int>(p.axis), p.reverse ? -distance : distance,
                  p.reverse ? distance : -distance);
}

void jvp_cumulative_extremum(const JvpArgs& a) {
  const auto& p = a.params.get<CumulativeParams>();
  const Array& x = a.in[0];
  const Dtype dtype = x.dtype();
  const bool largest = &a.p == &cummax_p;
  const double infinity = std::numeric_limits<double>::infinity();
  const Array worst = scalar_of(dtype, largest ? -infinity : infinity), zero = scalar_of(dtype, 0);
  a.out[0] = bind1(a.p, a.in, a.params);
  Array best = x, total = a.tangents[0], count = ones_like(x);
  scan_steps(x, p, [&](int64_t d) {
    const Array best0 = moved(best, p, d, worst), total0 = moved(total, p, d, zero),
                count0 = moved(count, p, d, zero);
    const Array earlier =
        logical_or(largest ? greater(best0, best) : less(best0, best), isnan(best0));
    const Array tie = equal(best0, best);
    total = where(earlier, total0, where(tie, total0 + total, total));
    count = where(earlier, count0, where(tie, count0 + count, count));
    best = where(earlier, best0, best);
  });
  a.out_tangents[0] = total / count;
}

}  // namespace spruce::rules
