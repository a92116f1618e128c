// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "spruce/core/ops/shape.h"
#include "spruce/core/parallel.h"

namespace spruce {
namespace conv_test {

// A reader of elements by axis, whichever of the first two axes comes first.
struct Grid {
  std::vector<double> values;
  Shape shape;
  bool swapped;

  int64_t size(int axis) const { return shape[axis < 2 && swapped ? 1 - axis : axis]; }
  double& at(int64_t a, int64_t b, std::span<const int64_t> place) {
    int64_t i = swapped ? b * shape[1] + a : a * shape[1] + b;
    for (size_t d = 0; d < place.size(); ++d) i = i * shape[2 + static_cast<int>(d)] + place[d];
    return values[static_cast<size_t>(i)];
  }
};

// The next index of a box; false after the last.
bool next(std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  for (size_t d = index.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

int64_t places(int64_t size, int64_t dilation, int64_t padding, int64_t window,
               int64_t window_dilation, int64_t stride) {
  const int64_t reach = (size - 1) * dilation + 1 + padding - ((window - 1) * window_dilation + 1);
  return reach < 0 ? 0 : reach / stride + 1;
}

// The definition, term by term, for axes that are not empty.
Grid by_definition(Grid x, Grid w, const ConvParams& p) {
  const int spatial = x.shape.rank() - 2;
  const int64_t f = p.feature_group_count, b = p.batch_group_count, groups = f * b;
  const int64_t batch = x.size(0) / b, inputs = x.size(1) / f,
                outputs = p.rhs_swapped ? w.size(0) * f : w.size(0);
  Grid y;
  y.swapped = p.out_swapped;
  y.shape = p.out_swapped ? Shape{outputs, batch} : Shape{batch, outputs};
  std::vector<int64_t> cells, taps;
  for (int d = 0; d < spatial; ++d) {
    cells.push_back(places(x.shape[2 + d], p.lhs_dilation[d], p.padding_low[d] + p.padding_high[d],
                           w.shape[2 + d], p.rhs_dilation[d], p.strides[d]));
    taps.push_back(w.shape[2 + d]);
    y.shape.push_back(cells.back());
  }
  y.values.resize(static_cast<size_t>(y.shape.numel()));
  if (y.values.empty()) return y;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t group = o / (outputs / groups);
      std::vector<int64_t> cell(cells.size(), 0);
      do {
        double sum = 0;
        for (int64_t i = 0; i < inputs; ++i) {
          std::vector<int64_t> tap(taps.size(), 0);
          do {
            std::vector<int64_t> place;
            bool inside = true;
            for (size_t d = 0; d < taps.size(); ++d) {
              const int k = static_cast<int>(d);
              const int64_t t = p.reversed ? taps[d] - 1 - tap[d] : tap[d];
              const int64_t at = cell[d] * p.strides[k] - p.padding_low[k] + t * p.rhs_dilation[k];
              inside = inside && at >= 0 && at % p.lhs_dilation[k] == 0 &&
                       at / p.lhs_dilation[k] < x.shape[2 + k];
              place.push_back(at / p.lhs_dilation[k]);
            }
            if (!inside) continue;
            const int64_t sample = b > 1 ? group * batch + n : n,
                          feature = f > 1 ? group * inputs + i : i;
            const bool inner =
                p.rhs_swapped && f > 1;  // the groups are in the inputs of the window
            sum += x.at(sample, feature, place) *
                   w.at(inner ? o % (outputs / groups) : o, inner ? feature : i, tap);
          } while (next(tap, taps));
        }
        y.at(n, o, cell) = sum;
      } while (next(cell, cells));
    }
  }
  return y;
}

struct Case {
  Shape lhs, rhs;
  ConvParams params;
};

// Any convolution that has a shape, small.
Case random_case(std::mt19937& rng) {
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  Case c;
  ConvParams& p = c.params;
  const int64_t groups = draw(0, 2) == 0 ? draw(2, 3) : 1;
  const bool of_batch = draw(0, 1) == 0;
  (of_batch ? p.batch_group_count : p.feature_group_count) = groups;
  p.lhs_swapped = draw(0, 2) == 0, p.rhs_swapped = draw(0, 2) == 0, p.out_swapped = draw(0, 2) == 0,
  p.reversed = draw(0, 2) == 0;
  const int64_t batch = draw(1, 3) * p.batch_group_count, inputs = draw(1, 3), outputs = draw(1, 3);
  c.lhs = {batch, inputs * p.feature_group_count};
  if (p.lhs_swapped) std::swap(c.lhs[0], c.lhs[1]);
  if (p.rhs_swapped)
    c.rhs = {inputs * p.feature_group_count, outputs * p.batch_group_count};
  else
    c.rhs = {outputs * groups, inputs};
  const int64_t spatial = draw(1, 3);
  const bool simple = draw(0, 1) == 0;
  for (int64_t d = 0; d < spatial; ++d) {
    c.lhs.push_back(draw(1, spatial == 1 ? 12 : 6));
    c.rhs.push_back(draw(1, spatial == 1 ? 12 : 5));
    p.strides.push_back(draw(1, simple ? 2 : 3));
    p.padding_low.push_back(draw(simple ? 0 : -1, 3));
    p.padding_high.push_back(draw(simple ? 0 : -1, 3));
    p.lhs_dilation.push_back(simple ? 1 : draw(1, 3));
    p.rhs_dilation.push_back(simple ? 1 : draw(1, 2));
  }
  return c;
}

std::vector<double> random_values(std::mt19937& rng, int64_t n) {
  std::vector<double> v(static_cast<size_t>(n));
  for (double& x : v) x = static_cast<double>(std::uniform_int_distribution<int>(-9, 9)(rng));
  return v;
}

std::vector<double> as_doubles(const Array& x) { return astype(x, float64).to_vector<double>(); }

TEST(ConvGeneral, IsItsDefinitionForAnyParameters) {
  std::mt19937 rng(1);
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    const Case c = random_case(rng);
    const std::vector<double> x = random_values(rng, c.lhs.numel()),
                              w = random_values(rng, c.rhs.numel());
    const Grid want =
        by_definition({x, c.lhs, c.params.lhs_swapped}, {w, c.rhs, c.params.rhs_swapped}, c.params);
    compared += want.values.empty() ? 0 : 1;
    // Small integers: every dtype has the exact sums.
    for (const Dtype dtype : {float64, float32, int32, int64}) {
      const Array y =
          conv_general(astype(array(x, c.lhs), dtype), astype(array(w, c.rhs), dtype), c.params);
      EXPECT_EQ(y.dtype(), dtype);
      ASSERT_EQ(y.shape(), want.shape) << "case " << i;
      ASSERT_EQ(as_doubles(y), want.values) << "case " << i << " " << name(dtype) << " lhs "
                                            << to_string(c.lhs) << " rhs " << to_string(c.rhs);
    }
  }
  EXPECT_GT(compared, 200);
}

// Large enough for the kernels that small ones do not reach.
TEST(ConvGeneral, IsItsDefinitionForLargerOnes) {
  struct Large {
    Shape lhs, rhs;
    int64_t stride, padding, dilation, groups;
  };
  std::mt19937 rng(2);
  for (const Large& l : {Large{{3, 16, 12, 12}, {16, 16, 3, 3}, 1, 1, 1, 1},
                         Large{{2, 3, 20, 20}, {24, 3, 5, 5}, 2, 2, 1, 1},
                         Large{{5, 8, 9, 9}, {32, 8, 2, 2}, 2, 0, 1, 1},
                         Large{{2, 32, 10, 10}, {16, 8, 3, 3}, 1, 2, 2, 4},
                         Large{{4, 16, 60}, {16, 16, 5}, 2, 2, 1, 1},
                         Large{{2, 4, 6, 7, 8}, {8, 4, 3, 3, 3}, 1, 1, 1, 1},
                         Large{{17, 8, 11, 11}, {16, 8, 3, 3}, 3, 1, 1, 1}}) {
    const int spatial = l.lhs.rank() - 2;
    const auto all = [&](int64_t v) { return Shape::filled(spatial, v); };
    ConvParams p{all(l.stride), all(l.padding), all(l.padding), all(1), all(l.dilation)};
    p.feature_group_count = l.groups;
    const std::vector<double> x = random_values(rng, l.lhs.numel()),
                              w = random_values(rng, l.rhs.numel());
    const Grid forward = by_definition({x, l.lhs, false}, {w, l.rhs, false}, p);
    const auto check = [&](const Shape& a, const Shape& b, const std::vector<double>& u,
                           const std::vector<double>& v, const ConvParams& q) {
      const Grid want = by_definition({u, a, q.lhs_swapped}, {v, b, q.rhs_swapped}, q);
      for (const Dtype dtype : {float32, float64}) {
        const Array y = conv_general(astype(array(u, a), dtype), astype(array(v, b), dtype), q);
        ASSERT_EQ(y.shape(), want.shape);
        EXPECT_EQ(as_doubles(y), want.values) << to_string(a) << to_string(b) << name(dtype);
      }
    };
    check(l.lhs, l.rhs, x, w, p);
    // The two gradients of it.
    const std::vector<double> g = random_values(rng, forward.shape.numel());
    ConvParams to_input = p, to_window = p;
    to_input.rhs_swapped = to_input.reversed = true;
    std::swap(to_input.strides, to_input.lhs_dilation);
    to_window.lhs_swapped = to_window.rhs_swapped = to_window.out_swapped = true;
    std::swap(to_window.strides, to_window.rhs_dilation);
    to_window.feature_group_count = 1, to_window.batch_group_count = l.groups;
    for (int d = 0; d < spatial; ++d) {
      const int64_t reach = (l.rhs[2 + d] - 1) * l.dilation,
                    out = (forward.shape[2 + d] - 1) * l.stride + 1;
      to_input.padding_low[d] = reach - l.padding;
      to_input.padding_high[d] = l.lhs[2 + d] + reach - out - to_input.padding_low[d];
      to_window.padding_high[d] = reach + out - l.lhs[2 + d] - l.padding;
    }
    check(forward.shape, l.rhs, g, w, to_input);
    check(l.lhs, forward.shape, x, g, to_window);
  }
}

TEST(ConvGeneral, HasTheSameBitsForAnyNumberOfThreads) {
  const int before = threads();
  std::mt19937 rng(3);
  std::normal_distribution<float> normal;
  const auto values = [&](const Shape& s) {
    std::vector<float> v(static_cast<size_t>(s.numel()));
    for (float& x : v) x = normal(rng);
    return array(v, s);
  };
  const Array x = values({20, 16, 16, 16}), w = values({32, 16, 3, 3}),
              g = values({20, 32, 16, 16});
  const ConvParams one{{1, 1}, {1, 1}, {1, 1}};
  ConvParams to_input = one, to_window = one;
  to_input.rhs_swapped = to_input.reversed = true;
  to_window.lhs_swapped = to_window.rhs_swapped = to_window.out_swapped = true;
  const auto run = [&](int n) {
    set_threads(n);
    std::vector<std::vector<float>> out;
    out.push_back(conv_general(x, w, one).to_vector<float>());
    out.push_back(conv_general(g, w, to_input).to_vector<float>());
    out.push_back(conv_general(x, g, to_window).to_vector<float>());
    return out;
  };
  const auto first = run(1);
  for (const int n : {2, 3, 8}) EXPECT_EQ(run(n), first) << n;
  set_threads(before);
}

TEST(ConvGeneral, AccumulatesHalvesInSingle) {
  const Array ones = array(std::vector<float>(1001, 1.0f), {1, 1, 1001});
  for (const Dtype dtype : {bfloat16, float16}) {
    const Array y = conv_general(astype(ones, dtype), astype(ones, dtype));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(as_doubles(y)[0], as_doubles(astype(array(1001.0f), dtype))[0]);
  }
}

template <class E>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

TEST(ConvGeneral, SaysWhatDoesNotFit) {
  const Array x = array(std::vector<float>(40, 0.0f), {2, 4, 5}),
              w = array(std::vector<float>(18, 0.0f), {2, 3, 3});
  EXPECT_THAT(message_of<ShapeError>([&] { conv_general(x, w); }),
              testing::StartsWith("conv_general: the input has 4 features and the window takes 3; "
                                  "lhs f32[2,4,5], rhs f32[2,3,3]"));
  EXPECT_THROW(conv_general(x, x, {.feature_group_count = 3}), ShapeError);
  EXPECT_THROW(conv_general(x, x, {.feature_group_count = 0}), ShapeError);
  EXPECT_THROW(conv_general(x, x, {.strides = {0}}), ShapeError);
  EXPECT_THROW(conv_general(x, x, {.strides = {1, 1}}), ShapeError);
  EXPECT_THROW(conv_general(reshape(x, {8, 5}), reshape(x, {8, 5})), ShapeError);
  for (const int64_t far : {INT64_MAX, INT64_MIN, int64_t{1} << 41}) {
    EXPECT_THROW(conv_general(x, x, {.padding_low = {far}}), ShapeError);
    EXPECT_THROW(conv_general(x, x, {.lhs_dilation = {far}}), ShapeError);
    EXPECT_THROW(reduce_window_sum(x, {.window = {1, 1, 2}, .window_dilation = {1, 1, far}}),
                 ShapeError);
  }
}

// Every window, element by element.
struct Reduced {
  Shape shape;
  std::vector<double> sum, max, min;
};

Reduced reduced(const std::vector<double>& x, const Shape& in, const WindowParams& w) {
  Reduced r;
  std::vector<int64_t> cells, taps;
  for (int d = 0; d < in.rank(); ++d) {
    cells.push_back(places(in[d], w.base_dilation[d], w.padding_low[d] + w.padding_high[d],
                           w.window[d], w.window_dilation[d], w.strides[d]));
    taps.push_back(w.window[d]);
    r.shape.push_back(cells.back());
  }
  if (r.shape.numel() == 0) return r;
  std::vector<int64_t> cell(cells.size(), 0);
  do {
    double sum = 0, max = -std::numeric_limits<double>::infinity(), min = -max;
    std::vector<int64_t> tap(taps.size(), 0);
    do {
      int64_t offset = 0;
      bool inside = true;
      for (size_t d = 0; d < taps.size(); ++d) {
        const int k = static_cast<int>(d);
        const int64_t at =
            cell[d] * w.strides[k] - w.padding_low[k] + tap[d] * w.window_dilation[k];
        inside =
            inside && at >= 0 && at % w.base_dilation[k] == 0 && at / w.base_dilation[k] < in[k];
        offset = offset * in[k] + at / w.base_dilation[k];
      }
      if (!inside) continue;
      const double v = x[static_cast<size_t>(offset)];
      sum += v, max = std::max(max, v), min = std::min(min, v);
    } while (next(tap, taps));
    r.sum.push_back(sum), r.max.push_back(max), r.min.push_back(min);
  } while (next(cell, cells));
  return r;
}

TEST(ReduceWindow, IsItsDefinitionForAnyParameters) {
  std::mt19937 rng(4);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  for (int i = 0; i < 300; ++i) {
    Shape in;
    WindowParams w;
    const int64_t rank = draw(1, 4);
    for (int64_t d = 0; d < rank; ++d) {
      const bool plain = draw(0, 2) == 0;
      in.push_back(draw(1, 6));
      w.window.push_back(plain ? 1 : draw(1, 3));
      w.strides.push_back(plain ? 1 : draw(1, 3));
      w.padding_low.push_back(plain ? 0 : draw(-1, 2));
      w.padding_high.push_back(plain ? 0 : draw(-1, 2));
      w.base_dilation.push_back(plain ? 1 : draw(1, 2));
      w.window_dilation.push_back(plain ? 1 : draw(1, 2));
    }
    const std::vector<double> x = random_values(rng, in.numel());
    const Reduced want = reduced(x, in, w);
    for (const Dtype dtype : {float64, float32, float16}) {
      const Array a = astype(array(x, in), dtype);
      ASSERT_EQ(reduce_window_sum(a, w).shape(), want.shape);
      ASSERT_EQ(as_doubles(reduce_window_sum(a, w)), want.sum) << i;
      ASSERT_EQ(as_doubles(reduce_window_max(a, w)), want.max) << i;
      ASSERT_EQ(as_doubles(reduce_window_min(a, w)), want.min) << i;
    }
  }
}

TEST(ReduceWindow, HasIdentitiesForIntegersAndPassesNanOn) {
  const Array x = array({1, 2, 3});
  const WindowParams beyond{.window = {2}, .strides = {2}, .padding_low = {2}};
  EXPECT_EQ(reduce_window_max(x, beyond).to_vector<int>(),
            (std::vector<int>{std::numeric_limits<int>::lowest(), 2}));
  EXPECT_EQ(reduce_window_min(x, beyond).to_vector<int>(),
            (std::vector<int>{std::numeric_limits<int>::max(), 1}));
  EXPECT_EQ(reduce_window_max(array({false, true, false}), {.window = {2}}).to_vector<bool>(),
            (std::vector<bool>{true, true}));
  const Array y = array({1.0f, std::nanf(""), 3.0f, 4.0f});
  const std::vector<float> max = reduce_window_max(y, {.window = {2}}).to_vector<float>();
  EXPECT_TRUE(std::isnan(max[0]) && std::isnan(max[1]));
  EXPECT_EQ(max[2], 4.0f);
}

TEST(ReduceWindow, SaysWhatDoesNotFit) {
  const Array x = array({1.0f, 2.0f});
  EXPECT_THROW(reduce_window_sum(x, {.window = {2, 2}}), ShapeError);
  EXPECT_THROW(reduce_window_sum(x, {.window = {0}}), ShapeError);
  EXPECT_THROW(reduce_window_sum(x, {.window = {1}, .strides = {-1}}), ShapeError);
  const Array none = array(std::vector<float>(), {0, 3});
  EXPECT_THAT(message_of<ShapeError>([&] {
                reduce_window_sum(none, {.window = {int64_t{1} << 62, 4}});
              }),
              testing::HasSubstr("[4611686018427387904,4] has more places than int64 can count"));
  EXPECT_THROW(reduce_window_sum(array({true}), {.window = {1}}), DtypeError);
}

}  // namespace conv_test
}  // namespace spruce
