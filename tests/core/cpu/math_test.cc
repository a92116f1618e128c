// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cfloat>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/core/cpu/math_ops.h"

namespace spruce::math_ops {
namespace math_test {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr double kMaxUlp = 4;

template <class Op, class T>
using Form = void (*)(const T*, const T*, T*, int);

/// Calls check(form, its name) for both forms, or the one that this processor runs.
template <class Op, class T, class Check>
void for_each_form(const Check& check) {
  check(Form<Op, T>(&without_fma<Op, T>), "without FMA");
  if (processor_has_fma()) check(Form<Op, T>(&with_fma<Op, T>), "with FMA");
}

template <class Op, class Wide, class T>
void expect_close(const std::vector<T>& x, const std::vector<T>& y, double max_ulp = kMaxUlp) {
  std::vector<Wide> exact(x.size());
  for (size_t i = 0; i < x.size(); ++i) exact[i] = Op::exact(Wide(x[i]), Wide(y[i]));
  for_each_form<Op, T>([&](Form<Op, T> form, const char* name) {
    std::vector<T> out(x.size());
    form(x.data(), y.data(), out.data(), static_cast<int>(x.size()));
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double ulp = ulp_error(out[i], exact[i]);
      if (ulp > worst) {
        worst = ulp;
        at = i;
      }
    }
    EXPECT_LE(worst, max_ulp) << Op::kName << ' ' << name << " at x = " << x[at]
                              << ", y = " << y[at] << ": " << out[at] << ", exactly " << exact[at];
  });
}

template <class... Ops, class Check>
void for_each_op(List<Ops...>, const Check& check) {
  (check(Ops()), ...);
}

/// 65536 floats that are spread over all bit patterns.
std::vector<float> spread() {
  std::vector<float> x(65536);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = __builtin_bit_cast(float, static_cast<uint32_t>(i) * 65537u + 101u);
  }
  return x;
}

/// Zeros, infinities and NaN, the points and the numbers next to them, of both signs.
template <class T>
std::vector<T> with_neighbours(const std::vector<T>& points) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {0, -T(0), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()};
  for (const T p : points) {
    for (const T q : {p, std::nextafter(p, T(0)), std::nextafter(p, Limits::infinity())}) {
      x.push_back(q);
      x.push_back(-q);
    }
  }
  return x;
}

/// Zeros, infinities, NaN, subnormals, the ends of the range, and the floats about every point
/// where one of the functions begins to overflow, to underflow, to be 1 or to be undefined, or
/// where an implementation changes its formula.
std::vector<float> special() {
  std::vector<float> points = {
      kTiny,       3 * kTiny,   FLT_MIN,     FLT_MAX,     FLT_EPSILON,   0x1p-13f,    0x1p-25f,
      0.25f,       0.46163213f, 0.47f,       0.5f,        0.70710677f,   0.78539819f, 1.0f,
      1.41421354f, 1.46163213f, 1.5f,        1.57079637f, 2.0f,          3.0f,        3.14159274f,
      3.91920590f, 4.0f,        5.0f,        6.0f,        9.01091385f,   10.0546875f, 16.6355324f,
      17.3286800f, 37.0f,       87.3365448f, 88.7228394f, 89.4159851f,   91.0f,       103.278931f,
      103.972084f, 126.0f,      128.0f,      149.0f,      150.0f,        0x1p22f,     0x1p23f,
      0x1p24f,     0x1p26f,     0x1p30f,     0x1p31f,     0x1p32f,       0x1p50f,     0x1p52f,
      0x1p63f,     0x1p64f,     0x1p77f,     0x1p104f,    4.08500343e36f};
  return with_neighbours(points);
}

TEST(MathTest, UnaryFloatsAreWithinFourUlpOverTheWholeRange) {
  const std::vector<float> x = spread();
  for_each_op(UnaryOps(), [&](auto op) { expect_close<decltype(op), double>(x, x); });
}

TEST(MathTest, UnaryFloatsAreWithinFourUlpOnOrdinaryNumbers) {
  std::mt19937 random(3);
  std::vector<float> x;
  for (const float limit : {1.0f, 1.0f, 12.0f, 110.0f}) {
    std::uniform_real_distribution<float> uniform(-limit, limit);
    for (int i = 0; i < 10000; ++i) x.push_back(uniform(random));
  }
  for_each_op(UnaryOps(), [&](auto op) { expect_close<decltype(op), double>(x, x); });
}

TEST(MathTest, UnaryFloatsAreRightAtSpecialValues) {
  const std::vector<float> x = special();
  for_each_op(UnaryOps(), [&](auto op) { expect_close<decltype(op), double>(x, x); });
}

TEST(MathTest, BinaryFloatsAreRightAtAllPairsOfSpecialValues) {
  std::vector<float> values = special();
  for (const float y : {0.1f, 0.3333f, 0.9999999f, 7.0f, 8388607.0f, 8388606.5f, 16777215.0f}) {
    values.push_back(y);
    values.push_back(-y);
  }
  std::vector<float> x;
  std::vector<float> y;
  for (const float a : values) {
    for (const float b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for_each_op(BinaryOps(), [&](auto op) { expect_close<decltype(op), double>(x, y); });
}

TEST(MathTest, BinaryFloatsAreWithinFourUlp) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> exponent(-152, 129);
  std::uniform_real_distribution<float> uniform(-5, 5);
  std::vector<float> x = spread();
  std::vector<float> y = spread();
  std::shuffle(y.begin(), y.end(), random);
  for (int i = 0; i < 30000; ++i) {
    x.push_back(uniform(random));
    y.push_back(uniform(random));
    // Powers of any base that neither overflow nor vanish.
    const float base = __builtin_bit_cast(float, static_cast<uint32_t>(random()) >> 1);
    x.push_back(base);
    y.push_back(exponent(random) / std::log2(base));
  }
  for_each_op(BinaryOps(), [&](auto op) { expect_close<decltype(op), double>(x, y); });
}

/// As special(), for f64.
std::vector<double> special_doubles() {
  const std::vector<double> points = {DBL_TRUE_MIN,
                                      DBL_MIN,
                                      DBL_MAX,
                                      DBL_EPSILON,
                                      0x1p-28,
                                      0x1p-54,
                                      0.25,
                                      0.46,
                                      0.47,
                                      0.5,
                                      0x1.6a09e667f3bcdp-1,
                                      0.78539816339744828,
                                      1.0,
                                      0x1.6a09e667f3bcdp0,
                                      1.5707963267948966,
                                      2.0,
                                      3.0,
                                      3.1415926535897931,
                                      5.93,
                                      6.0,
                                      8.0,
                                      19.07,
                                      26.54,
                                      27.22,
                                      27.5,
                                      30.0,
                                      709.78271289338397,
                                      709.78271289338409,
                                      710.47586007394386,
                                      745.13321910194110,
                                      745.2,
                                      1022.0,
                                      1024.0,
                                      1074.0,
                                      1075.0,
                                      1080.0,
                                      0x1p26,
                                      0x1p28,
                                      0x1p30,
                                      0x1p31,
                                      0x1p52,
                                      0x1p53,
                                      0x1p55,
                                      0x1p60,
                                      0x1p64,
                                      0x1p-450,
                                      0x1p500,
                                      0x1p512,
                                      0x1p600,
                                      1e300};
  return with_neighbours(points);
}

TEST(MathTest, UnaryDoublesAreWithinFourUlp) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> small(-1, 1), middle(-30, 30), large(-1100, 1100);
  std::vector<double> x = special_doubles();
  for (int i = 0; i < 20000; ++i) {
    x.push_back(small(random));
    x.push_back(middle(random));
    x.push_back(large(random));
    x.push_back(__builtin_bit_cast(double, static_cast<uint64_t>(random())));
  }
  std::vector<double> positive = x;
  for (double& value : positive) value = std::fabs(value);
  for_each_op(UnaryOps(), [&](auto op) {
    using Op = decltype(op);
    // On the negative axis they have zeros about which the error is small absolutely only.
    const bool gamma = std::is_same_v<Op, lgamma_op> || std::is_same_v<Op, digamma_op>;
    const std::vector<double>& at = gamma ? positive : x;
    expect_close<Op, long double>(at, at);
  });
}

TEST(MathTest, BinaryDoublesAreWithinFourUlp) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> exponent(-1085, 1030), uniform(-30, 30);
  std::vector<double> values = special_doubles(), x, y;
  for (const double v : {0.1, 0.3333, 0.9999999, 7.0, 9007199254740991.0, 4503599627370495.5}) {
    values.push_back(v);
    values.push_back(-v);
  }
  for (const double a : values) {
    for (const double b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for (int i = 0; i < 20000; ++i) {
    x.push_back(uniform(random));
    y.push_back(uniform(random));
    x.push_back(uniform(random));
    y.push_back(static_cast<double>(static_cast<int>(uniform(random))));
    x.push_back(__builtin_bit_cast(double, static_cast<uint64_t>(random())));
    y.push_back(__builtin_bit_cast(double, static_cast<uint64_t>(random())));
    // Powers of any base that neither overflow nor vanish.
    const double base = __builtin_bit_cast(double, static_cast<uint64_t>(random()) >> 1);
    x.push_back(base);
    y.push_back(exponent(random) / std::log2(base));
  }
  for_each_op(BinaryOps(), [&](auto op) { expect_close<decltype(op), long double>(x, y); });
}

TEST(MathTest, WholePowersAndLogarithmsOfDoublesAreExactWhereTheyCanBe) {
  const auto check = [](auto isa) {
    using I = decltype(isa);
    for (const double base : {2.0, 3.0, 7.0, 10.0, 1.5, -5.0}) {
      double product = 1;
      for (int n = 1; n <= 15; ++n) {
        product *= base;
        EXPECT_EQ((math::pow<I>(base, static_cast<double>(n))), product) << base << ' ' << n;
        EXPECT_EQ((math::integer_power<I>(base, n)), product) << base << ' ' << n;
      }
    }
    for (int n = -20; n <= 300; ++n) {
      EXPECT_EQ(math::log10<I>(std::pow(10.0, n)), n);
      EXPECT_EQ(math::log2<I>(std::ldexp(1.0, n)), n);
      EXPECT_EQ(math::exp2<I>(static_cast<double>(n)), std::ldexp(1.0, n));
    }
    for (int n = -100; n <= 100; ++n) EXPECT_EQ(math::cbrt<I>(1.0 * n * n * n), n);
  };
  check(math::Isa<false>());
  check(math::Isa<true>());
}

TEST(MathTest, IntegerPowersOfDoublesAreRoundedOnce) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-3, 3);
  const auto check = [&](auto isa) {
    using I = decltype(isa);
    std::vector<double> x = special_doubles();
    for (int i = 0; i < 2000; ++i) x.push_back(uniform(random));
    for (const double at : x) {
      for (const int64_t n : {1, 5, 6, 7, 11, 32, 100, -1, -3, -5, -8, -31}) {
        const double got = math::integer_power<I>(at, n);
        EXPECT_LE(ulp_error(got, std::pow(static_cast<long double>(at), n)), 0.51)
            << at << " to the power " << n << ": " << got;
      }
    }
  };
  check(math::Isa<false>());
  check(math::Isa<true>());
}

struct Special {
  float x;
  float y;
  float result;
};

template <class Op>
void expect_exactly(const std::vector<Special>& table) {
  for (const Special& row : table) {
    for_each_form<Op, float>([&](Form<Op, float> form, const char* name) {
      float got = 0;
      form(&row.x, &row.y, &got, 1);
      const bool same = std::isnan(row.result)
                            ? std::isnan(got)
                            : got == row.result && std::signbit(got) == std::signbit(row.result);
      EXPECT_TRUE(same) << Op::kName << '(' << row.x << ", " << row.y << ") " << name << ": " << got
                        << ", not " << row.result;
    });
  }
}

TEST(MathTest, SpecialResultsAreThoseOfTheStandard) {
  expect_exactly<exp_op>({{kInf, 0, kInf},
                          {-kInf, 0, 0},
                          {0, 0, 1},
                          {88.75f, 0, kInf},
                          {-103.0f, 0, 1.401298464e-45f},
                          {-104.0f, 0, 0}});
  expect_exactly<log_op>({{0, 0, -kInf},
                          {-0.0f, 0, -kInf},
                          {1, 0, 0},
                          {-1, 0, kNan},
                          {kInf, 0, kInf},
                          {-kInf, 0, kNan}});
  expect_exactly<log1p_op>({{-1, 0, -kInf}, {-0.0f, 0, -0.0f}, {kTiny, 0, kTiny}});
  expect_exactly<expm1_op>({{-kInf, 0, -1}, {-0.0f, 0, -0.0f}, {kTiny, 0, kTiny}});
  expect_exactly<sin_op>({{-0.0f, 0, -0.0f}, {kInf, 0, kNan}, {kTiny, 0, kTiny}});
  expect_exactly<tanh_op>({{kInf, 0, 1}, {-kInf, 0, -1}, {-0.0f, 0, -0.0f}});
  expect_exactly<erf_op>({{kInf, 0, 1}, {-kInf, 0, -1}, {-0.0f, 0, -0.0f}});
  expect_exactly<erf_inv_op>({{1, 0, kInf}, {-1, 0, -kInf}, {2, 0, kNan}, {-0.0f, 0, -0.0f}});
  expect_exactly<logistic_op>({{kInf, 0, 1}, {-kInf, 0, 0}, {0, 0, 0.5f}});
  expect_exactly<rsqrt_op>(
      {{0, 0, kInf}, {-0.0f, 0, -kInf}, {kInf, 0, 0}, {-1, 0, kNan}, {4, 0, 0.5f}});
  expect_exactly<digamma_op>({{0, 0, -kInf}, {-0.0f, 0, kInf}, {-1, 0, kNan}, {kInf, 0, kInf}});
  expect_exactly<lgamma_op>({{0, 0, kInf}, {-3, 0, kInf}, {-kInf, 0, kInf}, {1, 0, 0}, {2, 0, 0}});
  expect_exactly<pow_op>({{kNan, 0, 1},
                          {1, kNan, 1},
                          {-1, kInf, 1},
                          {-8, 1.0f / 3, kNan},
                          {-2, 3, -8},
                          {-0.0f, -3, -kInf},
                          {-0.0f, -2, kInf},
                          {-kInf, 3, -kInf},
                          {0.5f, -kInf, kInf},
                          {3, 2, 9},
                          {2, -149, kTiny},
                          {-2, 127, -0x1p127f}});
  expect_exactly<atan2_op>({{0, 1, 0},
                            {-0.0f, 1, -0.0f},
                            {0, -1, 3.14159274f},
                            {-0.0f, -0.0f, -3.14159274f},
                            {kInf, 1, 1.57079637f},
                            {1, 0, 1.57079637f}});
}

// In a loop over many elements the last ones are computed one at a time.
TEST(MathTest, AResultDoesNotDependOnTheElementsAroundIt) {
  std::vector<float> x = spread();
  x.resize(4096 + 15);
  for_each_op(UnaryOps(), [&](auto op) {
    using Op = decltype(op);
    for_each_form<Op, float>([&](Form<Op, float> form, const char* name) {
      std::vector<float> together(x.size());
      form(x.data(), x.data(), together.data(), static_cast<int>(x.size()));
      size_t different = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        float alone = 0;
        form(&x[i], &x[i], &alone, 1);
        different += !(alone == together[i] || (std::isnan(alone) && std::isnan(together[i])));
      }
      EXPECT_EQ(different, 0u) << Op::kName << ' ' << name;
    });
  });
}

// What kernels call where a whole block of arguments is small.
TEST(MathTest, NearTrigonometryIsTheSameBitForBit) {
  const auto check = [](auto isa) {
    using I = decltype(isa);
    int near = 0;
    for (const float x : spread()) {
      if (!math::is_near<I>(x)) continue;
      ++near;
      ASSERT_EQ((math::sin<I, true>(x)), math::sin<I>(x)) << x;
      ASSERT_EQ((math::cos<I, true>(x)), math::cos<I>(x)) << x;
      ASSERT_EQ((math::tan<I, true>(x)), math::tan<I>(x)) << x;
    }
    EXPECT_GT(near, 30000);
  };
  check(math::Isa<false>());
  check(math::Isa<true>());
}

TEST(MathTest, NanGoesThroughEveryFunction) {
  for_each_op(UnaryOps(), [](auto op) { expect_exactly<decltype(op)>({{kNan, 0, kNan}}); });
}

}  // namespace math_test
}  // namespace spruce::math_ops
