// SPDX-License-Identifier: Apache-2.0
// Distributions by rejection: JAX's variates and derivatives (variates_cases.py), transforms, and
// statistics.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "spruce/core/random/rejection.h"

namespace spruce {
namespace variates_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Case {
  const char *name, *dtype;
  int seed;
  const char *parameters, *variates, *slopes;
};
constexpr Case kCases[] = {
#include "tests/transforms/variates_cases.inc"
};

std::vector<double> numbers(const std::string& text) {
  std::vector<double> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.push_back(std::stod(item));
  return out;
}

Array draw(const std::string& name, const Key& key, const std::vector<Array>& p) {
  if (name == "gamma") return random::gamma(key, p[0]);
  if (name == "loggamma") return random::loggamma(key, p[0]);
  if (name == "chisquare") return random::chisquare(key, p[0]);
  if (name == "t") return random::t(key, p[0]);
  if (name == "beta") return random::beta(key, p[0], p[1]);
  if (name == "binomial") return random::binomial(key, p[0], p[1]);
  return random::dirichlet(key, p[0].reshape({8, 4}))[{slice(), slice(0, 2)}];
}

void expect_near(const Array& actual, const std::string& text, double rtol, double atol,
                 const std::string& what) {
  const std::vector<double> expected = numbers(text),
                            got = astype(actual, float64).to_vector<double>();
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - expected[i]);
    EXPECT_LE(error, rtol * std::abs(expected[i]) + atol)
        << what << " element " << i << ": " << got[i] << " for " << expected[i];
  }
}

// Above 1e5 the last bits of logarithms in f32 decide about a draw.
void expect_rates(const Array& rates, const Array& actual, const std::string& text) {
  const std::vector<double> expected = numbers(text);
  const std::vector<int32_t> got = actual.to_vector<int32_t>();
  const std::vector<float> rate = rates.to_vector<float>();
  int different = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (static_cast<double>(got[i]) == expected[i]) continue;
    EXPECT_GT(rate[i], 1e5f) << got[i] << " for " << expected[i];
    ++different;
  }
  EXPECT_LE(different, 5);
}

TEST(Variates, DrawsAsJax) {
  int count = 0;
  for (const Case& c : kCases) {
    const Dtype dtype = std::string(c.dtype) == "float32" ? float32 : float64;
    const std::string what = std::string(c.name) + " " + c.dtype;
    std::vector<Array> parameters;
    std::istringstream lists(c.parameters);
    for (std::string list; std::getline(lists, list, ';');)
      parameters.push_back(astype(array(numbers(list)), dtype));
    const Key key(static_cast<uint64_t>(c.seed));
    if (c.name == std::string("poisson")) {
      expect_rates(parameters[0], random::poisson(key, parameters[0]), c.variates);
      continue;
    }
    const bool single = dtype == float32;
    expect_near(draw(c.name, key, parameters), c.variates, single ? 4e-6 : 2e-13,
                single ? 1e-7 : 1e-15, what);
    if (*c.slopes == '\0') continue;
    const auto total = [&](const Array& p) {
      std::vector<Array> all = parameters;
      all[0] = p;
      return sum(draw(c.name, key, all));
    };
    // JAX's slopes are computed in f32 too, ours in f64.
    expect_near(grad(total)(parameters[0]), c.slopes, single ? 2e-4 : 1e-8, single ? 5e-6 : 1e-12,
                what + " slope");
    ++count;
  }
  EXPECT_EQ(count, 24);
}

TEST(Variates, EachKeyOfABatchGivesWhatItGivesAlone) {
  const Key keys = random::split(Key(3), 4);
  const Array p = array({0.3f, 0.5f, 0.9f}), rates = array({0.5f, 20.0f, 3e4f});
  const auto all = [&](const Key& key, const Array& a) {
    return std::tuple{random::gamma(key, a), random::poisson(key, rates),
                      random::binomial(key, 100.0f * a, p), random::t(key, a)};
  };
  const Array shapes = array({0.2f, 1.0f, 40.0f});
  const auto batched = vmap(all, {.in_axes = {0, none}})(keys, shapes);
  const auto compiled = jit(vmap(all, {.in_axes = {0, none}}))(keys, shapes);
  for (int i = 0; i < 4; ++i) {
    const auto alone = all(Key::wrap(keys.data()[i]), shapes);
    EXPECT_TRUE(array_equal(std::get<0>(batched)[i], std::get<0>(alone)));
    EXPECT_TRUE(array_equal(std::get<1>(batched)[i], std::get<1>(alone)));
    EXPECT_TRUE(array_equal(std::get<2>(batched)[i], std::get<2>(alone)));
    EXPECT_TRUE(array_equal(std::get<3>(batched)[i], std::get<3>(alone)));
  }
  EXPECT_TRUE(tree::equal(batched, compiled));
  // One key for a mapped parameter: the same numbers in each slice.
  const auto one = [](const Array& a) { return random::gamma(Key(5), a); };
  EXPECT_TRUE(array_equal(vmap(one)(stack({shapes, shapes}))[1], one(shapes)));
  const auto slope = vmap(grad([&](const Array& a) { return sum(one(a)); }));
  EXPECT_TRUE(array_equal(slope(stack({shapes, shapes}))[0],
                          grad([&](const Array& a) { return sum(one(a)); })(shapes)));
}

TEST(Variates, ShapesAndDtypes) {
  EXPECT_EQ(random::gamma(Key(0), 2.0).dtype(), float32);
  EXPECT_EQ(random::gamma(Key(0), array({2.0}, float64)).dtype(), float64);
  EXPECT_EQ(random::gamma(Key(0), array({1, 2}), {.shape = Shape{3, 2}}).shape(), (Shape{3, 2}));
  EXPECT_EQ(random::gamma(Key(0), zeros({0})).shape(), (Shape{0}));
  EXPECT_EQ(random::beta(Key(0), ones({3, 1}), ones({2})).shape(), (Shape{3, 2}));
  EXPECT_EQ(random::dirichlet(Key(0), ones({4}), {.shape = Shape{5}}).shape(), (Shape{5, 4}));
  EXPECT_EQ(random::poisson(Key(0), 3.0f, {.shape = Shape{2}, .dtype = uint8}).dtype(), uint8);
  EXPECT_EQ(random::binomial(Key(0), 10, 0.5f).dtype(), float32);
  const Array half = random::gamma(Key(0), astype(full({4}, 2.0f), float16));
  EXPECT_TRUE(array_equal(half, astype(random::gamma(Key(0), full({4}, 2.0f)), float16)));
}

TEST(Variates, LargeRatesHaveTheVarianceOfPoisson) {
  for (const float rate : {2e5f, 1e6f, 4e6f}) {
    const Array k = astype(random::poisson(Key(3), full({50000}, rate)), float64) - double{rate};
    // The deviation of the variance of so many draws is 0.0063 of it.
    EXPECT_NEAR(mean(square(k)).item<double>() / rate, 1, 0.02) << rate;
    EXPECT_NEAR(mean(k).item<double>() / std::sqrt(rate), 0, 0.015) << rate;
  }
}

TEST(Variates, TruncatedNormalBeyondOneTail) {
  struct Bounds {
    double lower, upper;
  };
  constexpr int kCount = 20000;
  for (const Bounds& b : {Bounds{4, kInf}, {5, 5.5}, {-kInf, -6}, {20, kInf}, {-9, -8.9}}) {
    for (const Dtype dtype : {float32, float64}) {
      std::vector<double> x =
          astype(random::truncated_normal(Key(2), b.lower, b.upper, {kCount}, {.dtype = dtype}),
                 float64)
              .to_vector<double>();
      std::sort(x.begin(), x.end());
      EXPECT_GT(x.front(), b.lower);
      EXPECT_LT(x.back(), b.upper);
      EXPECT_GT(std::set<double>(x.begin(), x.end()).size(), dtype == float64 ? 19990u : 15000u);
      // The distance of Kolmogorov from the distribution: 1 % of samples are further than 0.0115.
      const auto tail = [&](double t) { return std::erfc((b.lower < 0 ? -t : t) / std::sqrt(2)); };
      double distance = 0;
      for (int i = 0; i < kCount; ++i) {
        const double p = (tail(b.lower) - tail(x[i])) / (tail(b.lower) - tail(b.upper));
        distance = std::max(distance, std::abs(p - (i + 0.5) / kCount));
      }
      EXPECT_LT(distance, 0.0115) << b.lower << " " << b.upper;
    }
  }
  const Array half = random::truncated_normal(Key(2), 5, kInf, {100}, {.dtype = bfloat16});
  EXPECT_EQ(half.dtype(), bfloat16);
  EXPECT_GT(min(half).item<float>(), 5);
}

TEST(Variates, EdgesOfTheParameters) {
  const Array odd = array({-5.0, 0.0, kNan, kInf}, float64);
  const std::vector<double> g = random::gamma(Key(1), odd).to_vector<double>();
  EXPECT_TRUE(std::isnan(g[0]) && std::isnan(g[2]));
  EXPECT_EQ(g[3], INFINITY);
  EXPECT_EQ(random::poisson(Key(1), array({0.0, -1.0, kNan}, float64)).to_vector<int32_t>(),
            (std::vector<int32_t>{0, -1, -1}));
  EXPECT_EQ(random::poisson(Key(1), 1e20f).item<int32_t>(), INT32_MAX);
  const Array k = random::binomial(Key(1), array({10.0, 10.0, -1.0, kInf, 10.0, kNan}, float64),
                                   array({0.0, 1.0, 0.5, 0.5, 1.5, 0.5}, float64));
  const std::vector<double> b = k.to_vector<double>();
  EXPECT_EQ(b[0], 0);
  EXPECT_EQ(b[1], 10);
  EXPECT_TRUE(std::isnan(b[2]) && std::isnan(b[4]) && std::isnan(b[5]));
  EXPECT_EQ(b[3], INFINITY);
  EXPECT_THROW(random::gamma(random::split(Key(0), 2), 1.0), ShapeError);
  EXPECT_THROW(random::gamma(Key(0), ones({3}), {.shape = Shape{2}}), ShapeError);
  EXPECT_THROW(random::dirichlet(Key(0), 1.0f), ShapeError);
  EXPECT_THROW(random::poisson(Key(0), 1.0f, {.dtype = float32}), DtypeError);
  EXPECT_THROW(
      grad(grad([](const Array& a) { return random::gamma(Key(0), a); }))(array(1.0, float64)),
      DerivativeError);
}

// Mean and variance of a million variates, within five standard deviations of the estimates.
void expect_moments(const char* what, const Array& x, double mean_of, double variance) {
  const Array y = astype(x, float64);
  const double n = static_cast<double>(y.size()), m = mean(y).item<double>();
  const double v = var(y).item<double>(), fourth = mean(square(square(y - m))).item<double>();
  EXPECT_NEAR(m, mean_of, 5 * std::sqrt(variance / n)) << what;
  EXPECT_NEAR(v, variance, 5 * std::sqrt((fourth - v * v) / n)) << what;
}

TEST(Variates, MomentsAreThoseOfTheDistributions) {
  const Shape many{200000};
  for (const double a : {0.3, 1.0, 7.5})
    expect_moments("gamma", random::gamma(Key(1), a, {many}), a, a);
  expect_moments("beta", random::beta(Key(2), 2.0, 3.0, {many}), 0.4, 0.04);
  expect_moments("chisquare", random::chisquare(Key(3), 4.0, {many}), 4, 8);
  expect_moments("t", random::t(Key(4), 9.0, {many}), 0, 9.0 / 7);
  for (const double r : {0.7, 9.9, 10.0, 300.0})
    expect_moments("poisson", random::poisson(Key(5), r, {many}), r, r);
  for (const double p : {0.02, 0.4, 0.97})
    expect_moments("binomial", random::binomial(Key(6), 200, p, {many}), 200 * p,
                   200 * p * (1 - p));
  const Array d = random::dirichlet(Key(7), array({1.0, 2.0, 5.0}, float64), {many});
  EXPECT_TRUE(allclose(sum(d, -1), ones({200000}, float64)));
  expect_moments("dirichlet", d[{slice(), 1}], 0.25, 0.25 * 0.75 / 9);
}

// d/da E[x^2] = d/da (a^2 + a).
TEST(Variates, SlopesOfExpectations) {
  const auto second = [](const Array& a) {
    return mean(square(random::gamma(Key(8), a, {Shape{200000}})));
  };
  for (const double a : {0.4, 3.0, 60.0})
    EXPECT_NEAR(grad(second)(array(a)).item<double>(), 2 * a + 1, 0.02 * (2 * a + 1)) << a;
}

}  // namespace variates_test
}  // namespace spruce
