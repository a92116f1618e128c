// SPDX-License-Identifier: Apache-2.0
// Quantiles, histograms, covariances, interpolation and convolutions of vectors: numbers and
// gradients against JAX's (statistics_cases.py), compiled and mapped too; edges; errors.
#include "spruce/core/ops/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"
#include "tests/core/message.h"

namespace spruce {
namespace statistics_test {

using testing::HasSubstr;
using Doubles = std::vector<double>;

struct Row {
  const char* name;
  Doubles value, gradient;
};
const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#include "tests/core/statistics_cases.inc"
  };
  return all;
}

using Function = std::function<Array(const Array&)>;

Array four(const Array& x) { return reshape(x, {4, 6}); }

Array holes(const Array& x) {
  std::vector<bool> at(24, false);
  for (const size_t i : {2, 9, 10, 17}) at[i] = true;
  return where(array(at), NAN, x);
}

Array f64(const Doubles& v) { return array(v); }

std::map<std::string, Function> functions() {
  using A = const Array&;
  std::map<std::string, Function> all = {
      {"quantile", [](A x) { return quantile(x, 0.3); }},
      {"quantiles",
       [](A x) {
         return quantile(four(x), f64({0.1, 0.5, 1.0}), 1);
       }},
      {"quantile_lower", [](A x) { return quantile(four(x), 0.4, 0, {.method = "lower"}); }},
      {"quantile_higher",
       [](A x) { return quantile(four(x), 0.4, 0, {.method = "higher", .keepdims = true}); }},
      {"quantile_midpoint",
       [](A x) { return quantile(four(x), 0.4, none, {.method = "midpoint"}); }},
      {"quantile_nearest", [](A x) { return quantile(four(x), 0.45, 1, {.method = "nearest"}); }},
      {"percentile",
       [](A x) {
         return percentile(reshape(x, {2, 3, 4}), 37.0, {0, 2});
       }},
      {"nanquantile",
       [](A x) {
         return nanquantile(four(holes(x)), f64({0.25, 0.6}), 1);
       }},
      {"nanmedian", [](A x) { return nanmedian(four(holes(x)), 0); }},
      {"nanvar", [](A x) { return nanvar(four(holes(x)), 1, {.ddof = 1}); }},
      {"nanstd", [](A x) { return nanstd(holes(x)); }},
      {"cov", [](A x) { return cov(four(x)); }},
      {"cov_columns", [](A x) { return cov(four(x), {.rowvar = false, .ddof = 0}); }},
      {"cov_vector", [](A x) { return cov(x); }},
      {"corrcoef", [](A x) { return corrcoef(four(x)); }},
      {"histogram",
       [](A x) {
         const auto [counts, edges] = histogram(x, 5);
         return concatenate({counts, edges});
       }},
      {"histogram_range",
       [](A x) {
         return histogram(x, 4, {.range = std::pair{-1.0, 1.0}}).counts;
       }},
      {"histogram_density",
       [](A x) {
         return histogram(x, f64({-1.0, 0.0, 0.25, 2.0}), {.density = true}).counts;
       }},
      {"histogram_weights",
       [](A x) { return histogram(arange(24, float64), 6, {.weights = x}).counts; }},
      {"interp",
       [](A x) {
         return interp(x, f64({-1, -0.2, 0.5, 1.1}), f64({0.3, 2, -1, 0.5}));
       }},
      {"interp_outside",
       [](A x) {
         return interp(x, f64({-0.5, 0.5}), f64({1, 2}), {.left = -3.0, .right = 7.0});
       }},
      {"interp_values",
       [](A x) {
         return interp(linspace(-1, 6, 11, {.dtype = float64}), arange(6, float64),
                       x[slice(none, 6)]);
       }},
      {"trapezoid", [](A x) { return trapezoid(four(x), {.dx = 0.5}); }},
      {"trapezoid_at",
       [](A x) {
         return trapezoid(four(x), {.x = f64({0, 0.5, 0.7, 2}), .axis = 0});
       }},
  };
  for (const char* mode : {"full", "same", "valid"}) {
    for (const auto& [a, b] : {std::pair{7, 4}, {4, 7}, {6, 3}, {3, 6}, {1, 5}}) {
      const std::string of =
          std::string("_") + mode + "_" + std::to_string(a) + "_" + std::to_string(b);
      const auto parts = [a = a, b = b](A x) {
        return std::pair{x[slice(none, a)], x[slice(a, a + b)]};
      };
      all["convolve" + of] = [parts, mode](A x) {
        const auto [y, v] = parts(x);
        return convolve(y, v, {.mode = mode});
      };
      all["correlate" + of] = [parts, mode](A x) {
        const auto [y, v] = parts(x);
        return correlate(y, v, {.mode = mode});
      };
    }
  }
  return all;
}

void expect_close(const Array& got, const Doubles& want, double tol, const std::string& what) {
  const Doubles x = got.to_vector<double>();
  ASSERT_EQ(x.size(), want.size()) << what;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(x[i])) << what << " " << i;
    else
      EXPECT_NEAR(x[i], want[i], tol * (1 + std::abs(want[i]))) << what << " " << i;
  }
}

TEST(Statistics, NumbersAndGradientsOfJax) {
  const Array x = array(rows()[0].value);
  const auto all = functions();
  for (const Row& row : rows()) {
    if (row.gradient.empty()) continue;
    SCOPED_TRACE(row.name);
    const Function& f = all.at(row.name);
    const auto weighted = [&](const Array& v) {
      const Array y = ravel(f(v));
      return sum(cos(arange(1, y.size() + 1, float64)) * y);
    };
    const auto both = [&](const Array& v) { return std::pair{f(v), grad(weighted)(v)}; };
    const auto check = [&](const Array& value, const Array& gradient, const char* how) {
      expect_close(value, row.value, 1e-11, how);
      // Through NaN that is left out JAX gives NaN; here nothing comes of it.
      Doubles want = row.gradient;
      const Doubles got = gradient.to_vector<double>();
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_TRUE(std::isfinite(got[i])) << how << " " << i;
        if (std::isnan(want[i])) want[i] = got[i];
      }
      expect_close(gradient, want, 1e-11, how);
    };
    const auto [value, gradient] = both(x);
    check(value, gradient, "eager");
    const auto [compiled, compiled_gradient] = jit(both)(x);
    check(compiled, compiled_gradient, "compiled");
    const auto [values, gradients] = jit(vmap(both))(stack({2 * x, x}));
    check(values[1], gradients[1], "mapped");
  }
}

TEST(Statistics, Nan) {
  const Array x = array({{1.0f, NAN, 3.0f}, {4.0f, 5.0f, 9.0f}});
  const std::vector<float> medians = quantile(x, 0.5, 1).to_vector<float>();
  EXPECT_TRUE(std::isnan(medians[0]));
  EXPECT_EQ(medians[1], 5);
  EXPECT_EQ(nanmedian(x, 1).to_vector<float>(), (std::vector<float>{2, 5}));
  EXPECT_TRUE(std::isnan(nanmedian(full({3}, NAN)).item<float>()));
  EXPECT_TRUE(std::isnan(nanvar(array({1.0f, NAN}), none, {.ddof = 1}).item<float>()));
  EXPECT_EQ(histogram(array({0.0f, NAN, 1.0f, 5.0f}), array({0.0f, 1.0f, 2.0f}))
                .counts.to_vector<float>(),
            (std::vector<float>{1, 1}));
  EXPECT_EQ(quantile(array({1.0f, INFINITY, INFINITY}), 0.75).item<float>(), INFINITY);
}

TEST(Statistics, OtherDtypesAndSizes) {
  EXPECT_EQ(quantile(array({1, 2, 4}), 0.75).item<float>(), 3);
  EXPECT_EQ(quantile(astype(array({1, 2, 4}), bfloat16), 0.5).dtype(), bfloat16);
  EXPECT_EQ(convolve(array({1, 2, 3}), array({0, 1})).to_vector<int32_t>(),
            (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(digitize(array({0.0f, 1.0f, 2.5f}), array({1.0f, 2.0f})).to_vector<int32_t>(),
            (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(digitize(array({0.0f, 1.0f, 2.5f}), array({1.0f, 2.0f}), {.right = true})
                .to_vector<int32_t>(),
            (std::vector<int32_t>{0, 0, 2}));
  EXPECT_EQ(isin(array({{1, 2}, {3, 4}}), array({4, 1})).to_vector<bool>(),
            (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(isin(array({1, 2}), zeros({0}, int32)).to_vector<bool>(),
            (std::vector<bool>{false, false}));
  EXPECT_EQ(interp(array({-1.0f, 5.0f}), array({0.0f}), array({2.0f})).to_vector<float>(),
            (std::vector<float>{2, 2}));
  EXPECT_EQ(histogram(zeros({0}), 3).counts.to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(histogram(ones({4}), 2).edges.to_vector<float>(), (std::vector<float>{0.5f, 1, 1.5f}));
  EXPECT_EQ(trapezoid(ones({2, 1})).to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(Statistics, Errors) {
  const Array x = ones({3}), empty = zeros({0, 2});
  EXPECT_THAT(message<ValueError>([&] { return quantile(x, 1.5); }),
              HasSubstr("quantile: q is 1.500000; it must be from 0 to 1"));
  EXPECT_THAT(message<ValueError>([&] { return percentile(x, -1); }),
              HasSubstr("percentile: q is -1.000000; it must be from 0 to 100"));
  EXPECT_THAT(message<ValueError>([&] { return quantile(x, 0.5, none, {.method = "mean"}); }),
              HasSubstr("quantile: method \"mean\" is unknown; give \"linear\""));
  EXPECT_THAT(message<ShapeError>([&] { return quantile(empty, 0.5, 0); }),
              HasSubstr("quantile: no elements to choose from: "));
  EXPECT_THAT(message<ShapeError>([&] { return interp(x, x, ones({2})); }),
              HasSubstr("interp: xp and fp are vectors of one size, 1 or more, got "));
  EXPECT_THAT(message<ShapeError>([&] {
                return convolve(x, ones({2, 2}));
              }),
              HasSubstr("convolve: takes two vectors with elements, got "));
  EXPECT_THAT(
      message<ValueError>([&] { return convolve(x, x, {.mode = "half"}); }),
      HasSubstr("convolve: mode \"half\" is unknown; give \"full\", \"same\" or \"valid\""));
  EXPECT_THAT(message<ValueError>([&] { return histogram(x, 0); }),
              HasSubstr("histogram: 0 bins; give 1 or more"));
  EXPECT_THAT(message<ValueError>([&] {
                return histogram(x, 2, {.range = std::pair{1.0, 0.0}});
              }),
              HasSubstr("histogram: the range from 1.000000 to 0.000000 does not rise"));
  EXPECT_THAT(message<ShapeError>([&] { return histogram(x, ones({1})); }),
              HasSubstr("histogram: the edges are f[n] with n of 2 or more, got "));
  EXPECT_THAT(message<ShapeError>([&] { return histogram(x, 2, {.weights = ones({2})}); }),
              HasSubstr("histogram: the weights "));
  EXPECT_THAT(message<ShapeError>([&] {
                return cov(ones({2, 2, 2}));
              }),
              HasSubstr("cov: takes f[n] or f[m, n], got "));
  EXPECT_THAT(message<ValueError>([&] { return interp(x, Array(), x); }), HasSubstr("interp: "));
}

}  // namespace statistics_test
}  // namespace spruce
