// SPDX-License-Identifier: Apache-2.0
// Windows of 2 x 2 have a kernel of their own in f32, f16 and bf16: it gives what the general one
// gives in f64.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <cmath>
#include <limits>

#include "spruce/core/interpreter.h"
#include "spruce/core/rules/window.h"

namespace spruce {
namespace window_quads_test {

WindowParams quads(int rank) {
  WindowParams w;
  for (Shape* s : {&w.window, &w.strides, &w.base_dilation, &w.window_dilation})
    *s = Shape::filled(rank, 1);
  w.padding_low = w.padding_high = Shape::filled(rank, 0);
  for (int d = rank - 2; d < rank; ++d) w.window[d] = w.strides[d] = 2;
  return w;
}

// Values with ties, negative zeros and what is not a number.
Array values(const Shape& shape) {
  std::vector<float> x(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t h = (i * 2654435761u) >> 7;
    x[i] = h % 11 == 0  ? std::numeric_limits<float>::quiet_NaN()
           : h % 7 == 0 ? -0.0f
                        : static_cast<float>(h % 5) - 2.0f;
  }
  return reshape(array(x), shape);
}

void expect_same(const Array& x, const Array& y) {
  const std::vector<double> a = astype(x, float64).to_vector<double>(),
                            b = astype(y, float64).to_vector<double>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i])) {
      ASSERT_TRUE(std::isnan(b[i])) << i;
    } else {
      ASSERT_EQ(a[i], b[i]) << i;
    }
  }
}

void expect_general(const Shape& shape, Dtype dtype) {
  const Array x = astype(values(shape), dtype), wide = astype(x, float64);
  const WindowParams w = quads(shape.rank());
  expect_same(reduce_window_max(x, w), reduce_window_max(wide, w));
  expect_same(reduce_window_min(x, w), reduce_window_min(wide, w));
  const Array index = bind1(window_argmax_p, {x}, Params::make(w));
  expect_same(index, bind1(window_argmax_p, {wide}, Params::make(w)));
  expect_same(bind1(window_argmin_p, {x}, Params::make(w)),
              bind1(window_argmin_p, {wide}, Params::make(w)));
  // Indices that name no element too.
  for (const Array& tap : {index, index - 1, index + 1}) {
    WindowGatherParams g = rules::with_windows(WindowGatherParams{}, w);
    g.fill = 3;
    const Array chosen = bind1(window_gather_p, {x, astype(tap, int32)}, Params::make(g));
    expect_same(chosen, bind1(window_gather_p, {wide, astype(tap, int32)}, Params::make(g)));
    WindowScatterParams s = rules::with_windows(WindowScatterParams{}, w);
    s.shape = shape;
    expect_same(bind1(window_scatter_add_p, {chosen, astype(tap, int32)}, Params::make(s)),
                bind1(window_scatter_add_p, {astype(chosen, float64), astype(tap, int32)},
                      Params::make(s)));
  }
}

TEST(WindowQuads, GiveWhatTheGeneralKernelGives) {
  for (const Dtype dtype : {float32, float16, bfloat16}) {
    for (const Shape& shape :
         {Shape{2, 2}, Shape{3, 3}, Shape{3, 2, 28, 28}, Shape{4, 10, 10}, Shape{2, 3, 5, 33},
          Shape{1, 2, 7, 34}, Shape{5, 2, 67}, Shape{40, 40, 8, 16}, Shape{3, 5, 1029}})
      expect_general(shape, dtype);
  }
}

}  // namespace window_quads_test
}  // namespace spruce
