// SPDX-License-Identifier: Apache-2.0
// Filters of pictures and signals, products of many small matrices, and distances between points.
#include "benchmarks/bench.h"

namespace bench {
namespace {

// f32[n, c, h, w] by one 3 x 3 filter for each channel.
Array blur(const Array& pictures, const Array& filters) {
  return nn::conv2d(pictures, filters, {}, {.padding = 1, .groups = pictures.shape(1)});
}

// The gradient of half the sum of squares of the filtered picture, in the picture.
Array blur_gradient(const Array& pictures, const Array& filters) {
  return sp::grad([&](const Array& x) { return 0.5f * sp::sum(sp::square(blur(x, filters))); })(
      pictures);
}

// f32[n, 1, h, w] -> f32[n, 2, h, w].
Array slopes(const Array& pictures, const Array& filters) {
  return nn::conv2d(pictures, filters, {}, {.padding = 1});
}

// f32[n, 1, t] by one filter.
Array fir(const Array& signals, const Array& filter) { return nn::conv1d(signals, filter, {}); }

Array products(const Array& a, const Array& b) { return sp::matmul(a, b); }

// The mean square of the distance from a point to the nearest one of the others, both ways.
Array chamfer(const Array& x, const Array& y) {
  const Array d = sp::sum(sp::square(sp::expand_dims(x, 1) - y), -1);
  return sp::mean(sp::min(d, 1)) + sp::mean(sp::min(d, 0));
}

template <class F>
Row row(const std::string& name, F f, const sp::Shape& a, const sp::Shape& b) {
  return {name, [=](const Settings& s) { return call_of(s, f, normals(a), normals(b)); }};
}

}  // namespace

std::vector<Row> filter_rows() {
  return {row("blur", blur, {4, 3, 256, 256}, {3, 1, 3, 3}),
          row("blur_grad", blur_gradient, {4, 3, 256, 256}, {3, 1, 3, 3}),
          row("slopes", slopes, {1, 1, 512, 512}, {2, 1, 3, 3}),
          row("fir", fir, {4, 1, 32768}, {1, 1, 31}),
          row("products_3x3", products, {16384, 3, 3}, {16384, 3, 3}),
          row("products_3x1", products, {16384, 3, 3}, {16384, 3, 1}),
          row("chamfer", chamfer, {1024, 3}, {1000, 3})};
}

}  // namespace bench
