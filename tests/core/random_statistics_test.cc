// SPDX-License-Identifier: Apache-2.0
// Each distribution, drawn with fixed keys, against its distribution function.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/random/random.h"

namespace spruce {
namespace random_statistics_test {

constexpr int64_t kDraws = 20000;

// The Kolmogorov-Smirnov distance times sqrt(n); above 2.0 with probability 7e-4 if the
// distribution is right.
double kolmogorov_smirnov(const Array& draws, const std::function<double(double)>& cdf) {
  std::vector<double> x = astype(draws, float64).to_vector<double>();
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double distance = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = cdf(x[i]), below = static_cast<double>(i) / n,
                 above = static_cast<double>(i + 1) / n;
    distance = std::max({distance, expected - below, above - expected});
  }
  return distance * std::sqrt(n);
}

// Pearson's statistic less its expectation, in its standard deviations.
double chi_squared(const std::vector<int64_t>& counts, const std::vector<double>& probabilities) {
  int64_t n = 0;
  for (const int64_t c : counts) n += c;
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = static_cast<double>(n) * probabilities[i];
    sum += (static_cast<double>(counts[i]) - expected) *
           (static_cast<double>(counts[i]) - expected) / expected;
  }
  const auto freedom = static_cast<double>(counts.size() - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

std::vector<int64_t> counts(const Array& draws, size_t n) {
  std::vector<int64_t> out(n);
  for (const int32_t x : astype(draws, int32).to_vector<int32_t>())
    ++out.at(static_cast<size_t>(x));
  return out;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(RandomStatistics, ContinuousDistributions) {
  const double pi = std::acos(-1.0);
  for (const Dtype dtype : {float32, float64}) {
    for (int seed = 0; seed < 3; ++seed) {
      const Key key(seed);
      const Shape n{kDraws};
      EXPECT_LT(kolmogorov_smirnov(random::uniform(key, n, {.low = -2, .high = 3, .dtype = dtype}),
                                   [](double x) { return (x + 2) / 5; }),
                2.0);
      EXPECT_LT(kolmogorov_smirnov(random::normal(key, n, {.dtype = dtype}), normal_cdf), 2.0);
      EXPECT_LT(kolmogorov_smirnov(random::exponential(key, n, {.dtype = dtype}),
                                   [](double x) { return -std::expm1(-x); }),
                2.0);
      EXPECT_LT(kolmogorov_smirnov(random::gumbel(key, n, {.dtype = dtype}),
                                   [](double x) { return std::exp(-std::exp(-x)); }),
                2.0);
      EXPECT_LT(kolmogorov_smirnov(random::logistic(key, n, {.dtype = dtype}),
                                   [](double x) { return 1 / (1 + std::exp(-x)); }),
                2.0);
      EXPECT_LT(kolmogorov_smirnov(random::cauchy(key, n, {.dtype = dtype}),
                                   [&](double x) { return 0.5 + std::atan(x) / pi; }),
                2.0);
      EXPECT_LT(kolmogorov_smirnov(
                    random::laplace(key, n, {.dtype = dtype}),
                    [](double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }),
                2.0);
      EXPECT_LT(kolmogorov_smirnov(random::truncated_normal(key, -1, 2, n, {.dtype = dtype}),
                                   [](double x) {
                                     return (normal_cdf(x) - normal_cdf(-1)) /
                                            (normal_cdf(2) - normal_cdf(-1));
                                   }),
                2.0);
    }
  }
}

TEST(RandomStatistics, AWrongDistributionIsSeen) {
  EXPECT_GT(kolmogorov_smirnov(1.05f * random::normal(Key(0), {kDraws}), normal_cdf), 2.0);
  EXPECT_GT(chi_squared(counts(random::randint(Key(0), {kDraws}, 0, 9), 10),
                        std::vector<double>(10, 0.1)),
            4.0);
}

TEST(RandomStatistics, MomentsOfNormalNumbers) {
  const Array x = random::normal(Key(1), {1 << 20}, {.dtype = float64});
  EXPECT_NEAR(mean(x).item<double>(), 0, 4e-3);
  EXPECT_NEAR(mean(x * x).item<double>(), 1, 6e-3);
  EXPECT_NEAR(mean(x * x * x * x).item<double>(), 3, 4e-2);
}

TEST(RandomStatistics, DiscreteDistributions) {
  EXPECT_LT(chi_squared(counts(random::randint(Key(0), {kDraws}, 0, 10), 10),
                        std::vector<double>(10, 0.1)),
            4.0);
  EXPECT_LT(chi_squared(counts(random::randint(Key(1), {kDraws}, 0, 7, {.dtype = int8}), 7),
                        std::vector<double>(7, 1 / 7.0)),
            4.0);
  EXPECT_LT(chi_squared(counts(random::bernoulli(Key(0), 0.3f, {kDraws}), 2), {0.7, 0.3}), 4.0);
  EXPECT_LT(chi_squared(counts(random::bits(Key(2), {kDraws}, uint8), 256),
                        std::vector<double>(256, 1 / 256.0)),
            4.0);
  const std::vector<double> p{0.1, 0.2, 0.3, 0.05, 0.35};
  const Array weights = array({0.1f, 0.2f, 0.3f, 0.05f, 0.35f});
  EXPECT_LT(chi_squared(counts(random::choice(Key(0), 5, {kDraws}, {.p = weights}), 5), p), 4.0);
  EXPECT_LT(chi_squared(
                counts(random::categorical(Key(0), log(weights), {.shape = Shape{kDraws}}), 5), p),
            4.0);
  EXPECT_LT(chi_squared(counts((random::rademacher(Key(0), {kDraws}) + 1) / 2, 2), {0.5, 0.5}),
            4.0);
}

TEST(RandomStatistics, PermutationsOfFourAreAllAlike) {
  std::vector<int64_t> seen(24);
  for (int i = 0; i < 4800; ++i) {
    const std::vector<int32_t> p =
        random::permutation(random::fold_in(Key(0), i), 4).to_vector<int32_t>();
    size_t rank = 0;
    for (size_t k = 0; k < 4; ++k) {
      const auto smaller = std::count_if(p.begin() + static_cast<std::ptrdiff_t>(k) + 1, p.end(),
                                         [&](int32_t x) { return x < p[k]; });
      rank = rank * (4 - k) + static_cast<size_t>(smaller);
    }
    ++seen.at(rank);
  }
  EXPECT_LT(chi_squared(seen, std::vector<double>(24, 1 / 24.0)), 4.0);
}

TEST(RandomStatistics, KeysFromOneKeyAreIndependent) {
  const auto [a, b] = random::split<2>(Key(0));
  const Array x = random::normal(a, {100000}), y = random::normal(b, {100000}),
              z = random::normal(Key(0), {100000});
  EXPECT_NEAR(mean(x * y).item<float>(), 0, 0.015);
  EXPECT_NEAR(mean(x * z).item<float>(), 0, 0.015);
  EXPECT_NEAR(mean(y * z).item<float>(), 0, 0.015);
}

}  // namespace random_statistics_test
}  // namespace spruce
