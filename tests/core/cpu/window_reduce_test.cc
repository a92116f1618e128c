// SPDX-License-Identifier: Apache-2.0
// Sums, extrema and named elements of windows of every form, against loops that follow the
// definition.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <algorithm>
#include <random>

#include "spruce/core/interpreter.h"
#include "spruce/core/rules/window.h"

namespace spruce {
namespace window_reduce_test {

struct Trial {
  Shape in;  // two axes
  WindowParams w;
  std::vector<double> values;

  int64_t cells(int d) const {
    const int64_t extent = in[d] == 0 ? 0 : (in[d] - 1) * w.base_dilation[d] + 1;
    const int64_t reach = (w.window[d] - 1) * w.window_dilation[d] + 1;
    const int64_t room = extent + w.padding_low[d] + w.padding_high[d] - reach;
    return room < 0 ? 0 : room / w.strides[d] + 1;
  }
  // The element of tap t for cell c of an axis, or -1.
  int64_t element(int d, int64_t c, int64_t t) const {
    const int64_t at = c * w.strides[d] + t * w.window_dilation[d] - w.padding_low[d];
    return at < 0 || at % w.base_dilation[d] != 0 || at / w.base_dilation[d] >= in[d]
               ? -1
               : at / w.base_dilation[d];
  }
};

Trial make(std::mt19937& rng) {
  const auto draw = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
  };
  while (true) {
    Trial t;
    t.in = {draw(1, 5), draw(1, 70)};
    for (Shape* s : {&t.w.strides, &t.w.base_dilation, &t.w.window_dilation})
      *s = {draw(1, 3), draw(1, 3)};
    const int64_t most = draw(0, 1) == 0 ? 3 : 8;
    t.w.window = {draw(1, most), draw(1, most)};
    if (draw(0, 2) == 0) t.w.strides[1] = t.w.window_dilation[1] = 1;
    t.w.padding_low = {draw(0, 2), draw(0, 2)};
    t.w.padding_high = {draw(0, 2), draw(0, 2)};
    if (t.cells(0) < 1 || t.cells(1) < 1) continue;
    // Small integers, whose sums are exact in bf16 as well.
    t.values.resize(static_cast<size_t>(t.in.numel()));
    for (double& v : t.values) v = static_cast<double>(draw(-4, 4));
    return t;
  }
}

TEST(WindowReduce, AsDefined) {
  std::mt19937 rng(5);
  for (int k = 0; k < 400; ++k) {
    const Trial t = make(rng);
    std::vector<double> sums, largest, index;
    bool holes = false;  // windows without an element
    for (int64_t r = 0; r < t.cells(0); ++r) {
      for (int64_t c = 0; c < t.cells(1); ++c) {
        double sum = 0, best = 0, tap = -1;
        for (int64_t i = 0; i < t.w.window[0]; ++i) {
          for (int64_t j = 0; j < t.w.window[1]; ++j) {
            const int64_t row = t.element(0, r, i), column = t.element(1, c, j);
            if (row < 0 || column < 0) continue;
            const double v = t.values[static_cast<size_t>(row * t.in[1] + column)];
            sum += v;
            if (tap < 0 || v > best) best = v, tap = static_cast<double>(i * t.w.window[1] + j);
          }
        }
        holes = holes || tap < 0;
        sums.push_back(sum), largest.push_back(best), index.push_back(tap);
      }
    }
    SCOPED_TRACE(to_string(t.in) + " " + Params::make(t.w).text());
    for (const Dtype dtype : {float32, bfloat16, float16, float64, int32}) {
      const Array x = astype(reshape(array(t.values), t.in), dtype);
      const auto as_doubles = [](const Array& y) { return astype(y, float64).to_vector<double>(); };
      ASSERT_EQ(as_doubles(reduce_window_sum(x, t.w)), sums) << dtype;
      ASSERT_EQ(as_doubles(bind1(window_argmax_p, {x}, Params::make(t.w))), index) << dtype;
      if (holes) continue;
      ASSERT_EQ(as_doubles(reduce_window_max(x, t.w)), largest) << dtype;
      ASSERT_EQ(as_doubles(-reduce_window_min(-x, t.w)), largest) << dtype;
    }
  }
}

TEST(WindowReduce, ElementsThatTapsName) {
  std::mt19937 rng(6);
  for (int k = 0; k < 400; ++k) {
    const Trial t = make(rng);
    const int64_t rows = t.cells(0), columns = t.cells(1), taps = t.w.window.numel();
    std::vector<int32_t> tap;
    std::vector<double> chosen, added(t.values.size());
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        // Some name no tap, and some a tap outside of the input.
        const auto n = static_cast<int64_t>(rng() % static_cast<uint64_t>(taps + 2)) - 1;
        const bool is_tap = n >= 0 && n < taps;
        const int64_t row = is_tap ? t.element(0, r, n / t.w.window[1]) : -1,
                      column = is_tap ? t.element(1, c, n % t.w.window[1]) : -1;
        const auto place = static_cast<size_t>(row * t.in[1] + column);
        const bool inside = row >= 0 && column >= 0;
        tap.push_back(static_cast<int32_t>(n));
        chosen.push_back(inside ? t.values[place] : 7);
        if (inside) added[place] += chosen.back();
      }
    }
    SCOPED_TRACE(to_string(t.in) + " " + Params::make(t.w).text());
    const Array index = array(tap, {rows, columns});
    WindowGatherParams g = rules::with_windows(WindowGatherParams{}, t.w);
    g.fill = 7;
    WindowScatterParams s = rules::with_windows(WindowScatterParams{}, t.w);
    s.shape = t.in;
    for (const Dtype dtype : {float32, bfloat16, float64}) {
      const Array x = astype(reshape(array(t.values), t.in), dtype);
      const Array got = bind1(window_gather_p, {x, index}, Params::make(g));
      ASSERT_EQ(astype(got, float64).to_vector<double>(), chosen) << dtype;
      const Array sums = bind1(window_scatter_add_p, {got, index}, Params::make(s));
      ASSERT_EQ(astype(sums, float64).to_vector<double>(), added) << dtype;
    }
  }
}

}  // namespace window_reduce_test
}  // namespace spruce
