// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/adaptive_pool.h"

#include <cmath>
#include <functional>
#include <limits>

#include "spruce/nn/lp_pool.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace adaptive_pool_test {

Array with_indices(const nn::MaxPoolResult& r) {
  return sp::concatenate({sp::ravel(r.output), sp::astype(sp::ravel(r.indices), r.output.dtype())});
}

template <int kAxes>
void check_adaptive(size_t least) {
  const std::string axes = std::to_string(kAxes) + "d";
  check("adaptive_avg_pool" + axes, least, [](const Inputs& in, const Options& o) {
    return nn::AdaptiveAvgPool<kAxes>{sizes_of(o, "out")}(in[0]);
  });
  check("adaptive_max_pool" + axes, least, [](const Inputs& in, const Options& o) {
    return nn::AdaptiveMaxPool<kAxes>{sizes_of(o, "out")}(in[0]);
  });
  check("adaptive_max_pool" + axes + "_with_indices", least,
        [](const Inputs& in, const Options& o) {
          return with_indices(
              nn::AdaptiveMaxPoolWithIndicesFunction<kAxes>{}(in[0], sizes_of(o, "out")));
        });
}

TEST(AdaptivePool, AsPyTorch) {
  check_adaptive<1>(4);
  check_adaptive<2>(4);
  check_adaptive<3>(2);
}

TEST(AdaptivePool, FunctionsAndLayersAreOne) {
  const Array x = torch_cases::wave({1, 2, 5, 7}, 0.7);
  EXPECT_TRUE(
      sp::array_equal(nn::adaptive_avg_pool2d(x, {2, 3}), nn::AdaptiveAvgPool2d{{2, 3}}(x)));
  EXPECT_TRUE(sp::array_equal(nn::adaptive_max_pool2d(x, 3), nn::AdaptiveMaxPool2d{3}(x)));
  EXPECT_TRUE(sp::array_equal(nn::adaptive_avg_pool1d(x[0], 2), nn::AdaptiveAvgPool1d{2}(x[0])));
  EXPECT_TRUE(sp::array_equal(nn::adaptive_max_pool3d(x, 2), nn::AdaptiveMaxPool3d{2}(x)));
  EXPECT_TRUE(
      sp::array_equal(nn::adaptive_avg_pool2d(x, 1), sp::mean(x, {2, 3}, {.keepdims = true})));
}

// What a window does not hold does not reach it, and a NaN is the largest.
TEST(AdaptivePool, WindowsAreApart) {
  const float inf = std::numeric_limits<float>::infinity();
  const Array x = sp::reshape(sp::array({inf, 1.0f, 2.0f, 3.0f, 4.0f}), {1, 1, 5}),
              flipped = sp::flip(x);
  const std::vector<float> means = nn::adaptive_avg_pool1d(x, 3).to_vector<float>();
  EXPECT_EQ(means, (std::vector<float>{inf, 2, 3.5}));
  EXPECT_EQ(nn::adaptive_avg_pool1d(flipped, 3).to_vector<float>(),
            (std::vector<float>{3.5, 2, inf}));
  const Array y = sp::reshape(sp::array({1.0f, std::nanf(""), 2.0f, 3.0f, 4.0f}), {1, 1, 5});
  const nn::MaxPoolResult r = nn::adaptive_max_pool1d_with_indices(y, 3);
  const std::vector<float> largest = r.output.to_vector<float>();
  EXPECT_TRUE(std::isnan(largest[0]));
  EXPECT_TRUE(std::isnan(largest[1]));
  EXPECT_EQ(largest[2], 4);
  EXPECT_EQ(r.indices.to_vector<int32_t>(), (std::vector<int32_t>{1, 1, 4}));
}

// The windows of a pooling to 7 by 5, one by one.
Array by_windows(const Array& x, const std::function<Array(const Array&)>& f) {
  std::vector<Array> rows;
  const auto window = [](int64_t i, int64_t n, int64_t count) {
    return sp::slice(i * n / count, ((i + 1) * n + count - 1) / count);
  };
  for (int64_t i = 0; i < 7; ++i) {
    std::vector<Array> row;
    for (int64_t j = 0; j < 5; ++j)
      row.push_back(f(x[{sp::ellipsis, window(i, x.shape(-2), 7), window(j, x.shape(-1), 5)}]));
    rows.push_back(sp::stack(row, -1));
  }
  return sp::stack(rows, -2);
}

TEST(AdaptivePool, LongRowsAreReadWhereTheyStand) {
  const Array x = sp::random::normal(sp::Key(0), {2, 3, 24, 33});
  const auto near = [](const Array& a, const Array& b) {
    return sp::allclose(a, b, {.rtol = 1e-5, .atol = 1e-6});
  };
  const auto compare = [&](const auto& pool, const auto& wanted) {
    const Array expected = wanted(x);
    EXPECT_TRUE(near(pool(x), expected));
    EXPECT_TRUE(near(sp::jit(pool)(x), expected));
    EXPECT_TRUE(near(sp::jit(sp::vmap(pool))(x), expected));
    const auto slope = [](const auto& f) {
      return sp::grad([f](const Array& x) { return sp::sum(sp::square(f(x))); });
    };
    const Array g = slope(wanted)(x);
    EXPECT_TRUE(near(slope(pool)(x), g));
    EXPECT_TRUE(near(sp::jit(slope(pool))(x), g));
  };
  const auto average = [](const Array& x) { return nn::adaptive_avg_pool2d(x, {7, 5}); };
  const auto largest = [](const Array& x) { return nn::adaptive_max_pool2d(x, {7, 5}); };
  compare(average, [](const Array& x) {
    return by_windows(x, [](const Array& w) { return sp::mean(w, {-2, -1}); });
  });
  compare(largest, [](const Array& x) {
    return by_windows(x, [](const Array& w) { return sp::max(w, {-2, -1}); });
  });
  // A place where windows overlap belongs to four of them.
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const Array y = sp::jit(average)(x.at(0, 0, 3, 6).set(value));
    EXPECT_EQ(sp::sum(sp::isfinite(y)).item<int32_t>(), y.size() - 4);
  }
}

// Of equal elements the first one has the gradient, as in PyTorch.
TEST(AdaptivePool, TheFirstOfEqualElementsHasTheGradient) {
  const auto total = [](const Array& x) { return sp::sum(nn::adaptive_max_pool2d(x, 2)); };
  const Array x = sp::ones({1, 3, 5});
  const Array g = sp::array({{{1.0f, 0.0f, 1.0f, 0.0f, 0.0f},
                              {1.0f, 0.0f, 1.0f, 0.0f, 0.0f},
                              {0.0f, 0.0f, 0.0f, 0.0f, 0.0f}}});
  EXPECT_TRUE(sp::array_equal(sp::grad(total)(x), g));
  EXPECT_TRUE(sp::array_equal(sp::jit(sp::grad(total))(x), g));
}

TEST(AdaptivePool, BadInput) {
  const Array x = sp::ones({1, 2, 4, 4});
  EXPECT_THROW(nn::adaptive_avg_pool1d(x, 2), sp::ShapeError);
  EXPECT_THROW(nn::adaptive_avg_pool2d(x, 0), sp::ShapeError);
  EXPECT_THROW(nn::adaptive_avg_pool2d(x, -2), sp::ShapeError);
  EXPECT_THROW(nn::adaptive_avg_pool2d(x, {2, 2, 2}), sp::ShapeError);
  EXPECT_THROW(nn::adaptive_max_pool2d(sp::ones({1, 2, 0, 4}), 2), sp::ShapeError);
}

template <int kAxes>
void check_lp() {
  check("lp_pool" + std::to_string(kAxes) + "d", 5, [](const Inputs& in, const Options& o) {
    const double p = o.number("p");
    nn::LPPool<kAxes> layer{.norm_type = p, .kernel = o.integer("k"), .ceil_mode = o.flag("ceil")};
    if (o.has("s")) layer.stride = o.integer("s");
    return layer(p == 1 ? in[0] : sp::abs(in[0]));
  });
}

TEST(LpPool, AsPyTorch) {
  check_lp<1>();
  check_lp<2>();
  check_lp<3>();
  const Array x = sp::ones({1, 1, 4});
  EXPECT_EQ(nn::lp_pool1d(x, 2, 4).item<float>(), 2);
  const Array half = sp::full({1, 1, 4}, 300, sp::float16);
  EXPECT_EQ(nn::lp_pool1d(half, 2, 4).astype(sp::float32).item<float>(), 600);
  EXPECT_EQ(nn::lp_pool1d(x, 2, 5, {.stride = 2, .ceil_mode = true}).item<float>(),
            std::sqrt(5.0f));
  EXPECT_THROW(nn::lp_pool1d(x, 0, 4), sp::ValueError);
  EXPECT_THROW(nn::lp_pool2d(x, 2, 5), sp::ShapeError);
}

}  // namespace adaptive_pool_test
}  // namespace functional_cases
