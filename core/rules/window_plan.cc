// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/window_plan.h"

namespace spruce {

WindowPlan::WindowPlan(const Shape& in, const Shape& out, const WindowParams& w) {
  const Shape steps = row_major_strides(in);
  int64_t front = 1;
  int d = 0;
  // Where there are no windows, their size does not matter, however large.
  const bool none = out.numel() == 0;
  const auto trivial = [&](int i) {
    return w.window[i] == 1 && w.strides[i] == 1 && w.padding_low[i] == 0 && in[i] == out[i] &&
           w.base_dilation[i] == 1;
  };
  for (; d < in.rank() - 1 && trivial(d); ++d) front *= in[d];
  if (d > 0 || in.rank() == 0) {
    axes[rank++] = {front, front, 1, 1, 0, 1, 1, d > 0 ? steps[d - 1] : 1};
    plain = true;
  }
  for (; d < in.rank(); ++d) {
    axes[rank++] = {in[d],
                    out[d],
                    none ? 1 : w.window[d],
                    w.strides[d],
                    w.padding_low[d],
                    w.base_dilation[d],
                    w.window_dilation[d],
                    steps[d]};
  }
}

int64_t WindowPlan::rows() const {
  int64_t n = 1;
  for (int d = 0; d + 1 < rank; ++d) n *= axes[d].out;
  return n;
}

int64_t WindowPlan::taps() const {
  int64_t n = 1;
  for (int d = 0; d < rank; ++d) n *= axes[d].window;
  return n;
}

}  // namespace spruce
