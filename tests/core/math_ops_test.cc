// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace math_ops_test {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Bools = std::vector<bool>;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();

Doubles values(const Array& x) { return astype(x, float64).to_vector<double>(); }

// Equal, with NaN at the same places and the signs of zeros.
void expect_same(const Array& x, const Doubles& expected) {
  const Doubles got = values(x);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << got[i];
    } else {
      EXPECT_EQ(got[i], expected[i]);
      EXPECT_EQ(std::signbit(got[i]), std::signbit(expected[i]));
    }
  }
}

void expect_near(const Array& x, const Doubles& expected, double relative = 1e-13) {
  const Doubles got = values(x);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], relative * std::max(1e-3, std::abs(expected[i])))
        << "element " << i;
  }
}

struct UnaryCase {
  const char* name;
  std::function<Array(const Array&)> f;
  double (*expected)(double);
  double low, high;
};

double rsqrt_of(double x) { return 1 / std::sqrt(x); }
double logistic_of(double x) { return 1 / (1 + std::exp(-x)); }

const UnaryCase kUnary[] = {
    {"exp", exp, std::exp, -20, 20},       {"exp2", exp2, std::exp2, -20, 20},
    {"expm1", expm1, std::expm1, -2, 2},   {"log", log, std::log, 0.01, 50},
    {"log2", log2, std::log2, 0.01, 50},   {"log10", log10, std::log10, 0.01, 50},
    {"log1p", log1p, std::log1p, -0.9, 9}, {"sqrt", sqrt, std::sqrt, 0, 50},
    {"rsqrt", rsqrt, rsqrt_of, 0.01, 50},  {"cbrt", cbrt, std::cbrt, -50, 50},
    {"sin", sin, std::sin, -10, 10},       {"cos", cos, std::cos, -10, 10},
    {"tan", tan, std::tan, -1.5, 1.5},     {"asin", asin, std::asin, -1, 1},
    {"acos", acos, std::acos, -1, 1},      {"atan", atan, std::atan, -50, 50},
    {"sinh", sinh, std::sinh, -9, 9},      {"cosh", cosh, std::cosh, -9, 9},
    {"tanh", tanh, std::tanh, -9, 9},      {"asinh", asinh, std::asinh, -50, 50},
    {"acosh", acosh, std::acosh, 1, 50},   {"atanh", atanh, std::atanh, -0.9, 0.9},
    {"erf", erf, std::erf, -4, 4},         {"erfc", erfc, std::erfc, -4, 4},
    {"lgamma", lgamma, std::lgamma, 3, 9}, {"logistic", logistic, logistic_of, -20, 20},
    {"floor", floor, std::floor, -9, 9},   {"ceil", ceil, std::ceil, -9, 9},
    {"trunc", trunc, std::trunc, -9, 9},   {"round", round, std::nearbyint, -9, 9},
    {"abs", abs, std::fabs, -9, 9},
};

TEST(Unary, ValuesInEveryFloatingDtype) {
  constexpr int kCount = 67;  // not a multiple of a vector, so that the rest of the loop runs too
  for (const UnaryCase& c : kUnary) {
    SCOPED_TRACE(c.name);
    Doubles at(kCount), expected(kCount);
    for (int i = 0; i < kCount; ++i) {
      const double x = c.low + (c.high - c.low) * i / (kCount - 1);
      at[i] = static_cast<float>(Bfloat16(static_cast<float>(x)));  // exact in each dtype but f16
      if (at[i] < c.low || at[i] > c.high) at[i] = c.low == std::floor(c.low) ? c.low : c.high;
      at[i] = static_cast<float>(Float16(static_cast<float>(at[i])));
      expected[i] = c.expected(at[i]);
    }
    expect_near(c.f(array(at)), expected, 1e-14);
    expect_near(c.f(astype(array(at), float32)), expected, 6e-7);
    const Doubles half = values(c.f(astype(array(at), float16)));
    for (int i = 0; i < kCount; ++i) {
      const float rounded = Float16(static_cast<float>(expected[i]));
      if (std::isinf(rounded)) {
        EXPECT_EQ(half[i], rounded) << at[i];
      } else {
        EXPECT_NEAR(half[i], rounded, std::abs(rounded) * 1.1e-3 + 1e-7) << at[i];
      }
    }
  }
}

// About its zeros lgamma is -g e + z e^2 / 2 and (1 - g) e + (z - 1) e^2 / 2, with Euler's constant
// g and z = pi^2 / 6; what follows is below 1e-16 of it for these e.
TEST(Unary, SpecialValues) {
  const Array x = array({kNan, kInf, -kInf, 0.0, -0.0, -1.0}, float64);
  expect_same(exp(x), {kNan, kInf, 0.0, 1.0, 1.0, std::exp(-1)});
  expect_same(log(x), {kNan, kInf, kNan, -kInf, -kInf, kNan});
  expect_same(log1p(x), {kNan, kInf, kNan, 0.0, -0.0, -kInf});
  expect_same(sqrt(x), {kNan, kInf, kNan, 0.0, -0.0, kNan});
  expect_same(rsqrt(x), {kNan, 0.0, kNan, kInf, -kInf, kNan});
  expect_same(tanh(x), {kNan, 1.0, -1.0, 0.0, -0.0, std::tanh(-1)});
  expect_same(erf_inv(array({-1.0, 0.0, 1.0, 1.5, kNan}, float64)), {-kInf, 0.0, kInf, kNan, kNan});
  expect_same(lgamma(x), {kNan, kInf, kInf, kInf, kInf, kInf});
  expect_same(abs(x), {kNan, kInf, kInf, 0.0, 0.0, 1.0});
  expect_same(-x, {kNan, -kInf, kInf, -0.0, 0.0, 1.0});
  expect_same(sign(x), {kNan, 1.0, -1.0, 0.0, 0.0, -1.0});
  expect_same(floor(x), {kNan, kInf, -kInf, 0.0, -0.0, -1.0});
  expect_same(reciprocal(x), {kNan, 0.0, -0.0, kInf, -kInf, -1.0});
  EXPECT_EQ(isnan(x).to_vector<bool>(), (Bools{true, false, false, false, false, false}));
  EXPECT_EQ(isinf(x).to_vector<bool>(), (Bools{false, true, true, false, false, false}));
  EXPECT_EQ(isposinf(x).to_vector<bool>(), (Bools{false, true, false, false, false, false}));
  EXPECT_EQ(isneginf(x).to_vector<bool>(), (Bools{false, false, true, false, false, false}));
  EXPECT_EQ(isfinite(x).to_vector<bool>(), (Bools{false, false, false, true, true, true}));
  EXPECT_EQ(signbit(x).to_vector<bool>(), (Bools{false, false, true, false, true, true}));
  expect_same(nan_to_num(x), {0.0, std::numeric_limits<double>::max(),
                              -std::numeric_limits<double>::max(), 0.0, -0.0, -1.0});
  expect_same(nan_to_num(x, {.nan = 7, .posinf = 8, .neginf = 9}),
              {7.0, 8.0, 9.0, 0.0, -0.0, -1.0});
}

TEST(Unary, RoundsHalvesToEven) {
  expect_same(round(array({-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999999999999994}, float64)),
              {-2.0, -2.0, -0.0, 0.0, 2.0, 2.0, 0.0});
  expect_same(round(array({0.5f, 1.5f, 8388609.0f})), {0.0, 2.0, 8388609.0});
}

TEST(Unary, Integers) {
  const Array x = array({3, -4, 0, kLowest});
  EXPECT_EQ(abs(x).to_vector<int32_t>(), (Ints{3, 4, 0, kLowest}));
  EXPECT_EQ((-x).to_vector<int32_t>(), (Ints{-3, 4, 0, kLowest}));
  EXPECT_EQ(sign(x).to_vector<int32_t>(), (Ints{1, -1, 0, -1}));
  EXPECT_EQ(square(array({3, -4, 1 << 16})).to_vector<int32_t>(), (Ints{9, 16, 0}));
  EXPECT_EQ(floor(x).ref(), x.ref());
  EXPECT_EQ((~x).to_vector<int32_t>(), (Ints{-4, 3, -1, std::numeric_limits<int32_t>::max()}));
  EXPECT_EQ(population_count(x).to_vector<int32_t>(), (Ints{2, 30, 0, 1}));
  EXPECT_EQ((-array({uint8_t{1}, uint8_t{0}})).to_vector<uint8_t>(),
            (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ((~array({true, false})).to_vector<bool>(), (Bools{false, true}));
  EXPECT_EQ((!array({2, 0})).to_vector<bool>(), (Bools{false, true}));
  EXPECT_FALSE(isnan(x).to_vector<bool>()[3]);
}

TEST(Unary, GammaFamily) {
  // Abramowitz and Stegun, table 6.1, and the reflection and recurrence formulas of polygamma.
  expect_near(digamma(array({1.0, 0.5, -0.5}, float64)),
              {-0.57721566490153286, -1.9635100260214235, 0.03648997397857652}, 1e-12);
  const double pi2 = std::numbers::pi * std::numbers::pi;
  expect_near(polygamma(1, array({1.0, 0.5, -0.5, -1.5}, float64)),
              {pi2 / 6, pi2 / 2, pi2 / 2 + 4, pi2 / 2 + 4 + 1 / 2.25}, 1e-14);
  expect_near(polygamma(2, array({1.0, 0.5}, float64)), {-2.4041138063191886, -16.828796644234320},
              1e-14);
  expect_near(polygamma(3, array({1.0, 30.0}, float64)), {pi2 * pi2 / 15, 7.786003664736128e-05},
              1e-12);
  expect_same(polygamma(1, array({0.0, -1.0, -2.0, kInf, kNan}, float64)),
              {kInf, kInf, kInf, 0.0, kNan});
  expect_same(polygamma(0, array({3.7}, float64)), values(digamma(array({3.7}, float64))));
  EXPECT_THROW((void)polygamma(-1, array({1.0}, float64)), ValueError);
}

TEST(Unary, SincAndItsDerivativesAtZero) {
  expect_near(sinc(array({0.0, 0.5, 1.5, -0.1}, float64)),
              {1.0, 2 / std::numbers::pi, -2 / (3 * std::numbers::pi), 0.983631643083466}, 1e-15);
  const auto f = [](Array x) { return sinc(x); };
  const double far = grad(f)(array(5000.25f)).item<double>();
  EXPECT_NEAR(far, std::cos(std::numbers::pi * 0.25) / 5000.25, 1e-6);
  EXPECT_EQ(grad(f)(array(0.0, float64)).item<double>(), 0.0);
  EXPECT_NEAR(grad(grad(f))(array(0.0, float64)).item<double>(),
              -std::numbers::pi * std::numbers::pi / 3, 1e-14);
}

TEST(Binary, Broadcasts) {
  const Array a = array({{1, 2, 3}, {4, 5, 6}}), row = array({10, 20, 30}),
              column = array({{100}, {200}});
  EXPECT_EQ((a + row).to_vector<int32_t>(), (Ints{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ((column - row).to_vector<int32_t>(), (Ints{90, 80, 70, 190, 180, 170}));
  EXPECT_EQ((2 * a).to_vector<int32_t>(), (Ints{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ((reshape(a, {2, 1, 3}) + reshape(array({0, 100}), {1, 2, 1})).to_vector<int32_t>(),
            (Ints{1, 2, 3, 101, 102, 103, 4, 5, 6, 104, 105, 106}));
  EXPECT_EQ((zeros({0, 3}) + row).shape(), (Shape{0, 3}));
  EXPECT_EQ((zeros({2, 0}) + zeros({2, 1})).shape(), (Shape{2, 0}));
  EXPECT_EQ((array(1) + array(2)).item<int32_t>(), 3);
  try {
    (void)add(zeros({2, 3}), zeros({2, 4}));
    FAIL();
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("add: "));
    EXPECT_THAT(e.what(), HasSubstr("[2,3]"));
    EXPECT_THAT(e.what(), HasSubstr("[2,4]"));
  }
}

TEST(Binary, LargeArraysOverThreads) {
  constexpr int64_t kRows = 300, kColumns = 1001;
  const Array a = reshape(arange(kRows * kColumns, int32), {kRows, kColumns}),
              row = arange(kColumns, int32);
  const Array column = reshape(arange(kRows, int32), {kRows, 1});
  const Ints sums = (a + row).to_vector<int32_t>(),
             chosen = where(a < row * 7, column, a).to_vector<int32_t>();
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      const int64_t x = i * kColumns + j;
      ASSERT_EQ(sums[static_cast<size_t>(x)], x + j);
      ASSERT_EQ(chosen[static_cast<size_t>(x)], x < j * 7 ? i : x);
    }
  }
}

TEST(Binary, IntegerArithmeticWrapsAndDividesByZero) {
  EXPECT_EQ((array({int8_t{127}}) + array({int8_t{1}})).to_vector<int8_t>(),
            std::vector<int8_t>{-128});
  EXPECT_EQ((array({1 << 30}) * 4).to_vector<int32_t>(), Ints{0});
  const Array a = array({7, -7, 7, -7, 7, -7, 0, kLowest, kLowest}),
              b = array({2, 2, -2, -2, 0, 0, 0, -1, 0});
  EXPECT_EQ(floor_divide(a, b).to_vector<int32_t>(), (Ints{3, -4, -4, 3, -1, -1, -1, kLowest, -1}));
  EXPECT_EQ((a % b).to_vector<int32_t>(), (Ints{1, 1, -1, -1, 7, -7, 0, 0, kLowest}));
  EXPECT_EQ(fmod(a, b).to_vector<int32_t>(), (Ints{1, -1, 1, -1, 7, -7, 0, 0, kLowest}));
  EXPECT_TRUE(array_equal(b * floor_divide(a, b) + a % b, a));
  EXPECT_EQ(floor_divide(array({uint8_t{7}, uint8_t{7}}), array({uint8_t{2}, uint8_t{0}}))
                .to_vector<uint8_t>(),
            (std::vector<uint8_t>{3, 255}));
  expect_same(array({7, 1}) / array({2, 0}), {3.5, kInf});
}

TEST(Binary, FloatingDivision) {
  const Array a = array({7.0, -7.0, 7.0, -7.0, 1.0, -1.0, kInf, 1.0, 0.0}, float64),
              b = array({2.0, 2.0, -2.0, -2.0, 0.0, kInf, 1.0, kNan, 0.0}, float64);
  expect_same(floor_divide(a, b), {3.0, -4.0, -4.0, 3.0, kInf, -1.0, kNan, kNan, kNan});
  expect_same(fmod(a, b), {1.0, -1.0, 1.0, -1.0, kNan, -1.0, kNan, kNan, kNan});
  expect_same(a % b, {1.0, 1.0, -1.0, -1.0, kNan, kInf, kNan, kNan, kNan});
  expect_same(floor_divide(array({1.0}, float64), 0.1), {9.0});
}

TEST(Binary, Power) {
  expect_near(power(array({2.0, 3.0, 0.5}, float64), array({0.5, -1.5, 7.25}, float64)),
              {std::sqrt(2.0), std::pow(3.0, -1.5), std::pow(0.5, 7.25)}, 1e-14);
  expect_same(power(array({0.0, -2.0, -2.0, kInf, kNan, 1.0}, float64),
                    array({0.0, 3.0, 0.5, -1.0, 0.0, kNan}, float64)),
              {1.0, -8.0, kNan, 0.0, 1.0, 1.0});
  EXPECT_EQ(power(array({3, -3, 0, 2}), array({4, 3, 0, 31})).to_vector<int32_t>(),
            (Ints{81, -27, 1, kLowest}));
  EXPECT_EQ(power(array({1, -1, -1, 2, 0}), array({-5, -5, -4, -1, -1})).to_vector<int32_t>(),
            (Ints{1, -1, 1, 0, 0}));
  for (const int n : {-5, -2, -1, 0, 1, 2, 3, 4, 5, 11}) {
    SCOPED_TRACE(n);
    const Doubles x = {-1.5, -0.25, 0.75, 3};
    Doubles expected;
    for (const double v : x) expected.push_back(std::pow(v, n));
    expect_near(power(array(x), n), expected, 1e-15);
    expect_near(power(astype(array(x), float32), n), expected, 3e-7);
    expect_near(power(array(x), static_cast<double>(n)), expected, 1e-15);
    EXPECT_EQ(power(astype(array(x), bfloat16), n).dtype(), bfloat16);
  }
  EXPECT_EQ(power(array({3, -2}), 5).to_vector<int32_t>(), (Ints{243, -32}));
  EXPECT_THROW((void)power(array({3}), -1), ValueError);
  EXPECT_EQ(float_power(array({2}), -1).item<float>(), 0.5f);
}

TEST(Binary, HypotAtan2AndLogaddexpAtTheLimits) {
  const Array a = array({3.0, 6e200, kInf, kInf, kNan, 0.0}, float64),
              b = array({4.0, -0.0, kNan, -kInf, 1.0, -0.0}, float64);
  expect_same(hypot(a, b), {5.0, 6e200, kInf, kInf, kNan, 0.0});
  expect_near(hypot(array({3e200}, float64), 4e200), {5e200});
  expect_same(
      hypot(array({3e30f, std::numeric_limits<float>::infinity()}), array({4e30f, std::nanf("")})),
      {static_cast<double>(std::hypot(3e30f, 4e30f)), kInf});
  expect_near(
      atan2(array({1.0, -1.0, 0.0, -0.0}, float64), array({1.0, -1.0, -1.0, -1.0}, float64)),
      {std::atan(1.0), -3 * std::atan(1.0), std::numbers::pi, -std::numbers::pi}, 1e-15);
  const Array x = array({1000.0, -1000.0, kInf, -kInf, kInf, kNan, 1e300}, float64);
  const Array y = array({1000.0, -1000.0, kInf, -kInf, -kInf, 0.0, -1e300}, float64);
  const double ln2 = std::numbers::ln2;
  expect_same(logaddexp(x, y), {1000 + ln2, -1000 + ln2, kInf, -kInf, kInf, kNan, 1e300});
  expect_near(logaddexp2(array({3.0, 100.0}, float64), array({3.0, -100.0}, float64)), {4.0, 100.0},
              1e-14);
  expect_same(logaddexp2(array({-kInf, kInf}, float64), array({-kInf, 1.0}, float64)),
              {-kInf, kInf});
}

TEST(Binary, MaximumAndMinimum) {
  const Array a = array({1.0, kNan, 2.0, -kInf}, float64),
              b = array({2.0, 1.0, kNan, 0.0}, float64);
  expect_same(maximum(a, b), {2.0, kNan, kNan, 0.0});
  expect_same(minimum(a, b), {1.0, kNan, kNan, -kInf});
  expect_same(fmax(a, b), {2.0, 1.0, 2.0, 0.0});
  expect_same(fmin(a, b), {1.0, 1.0, 2.0, -kInf});
  EXPECT_EQ(maximum(array({1, 5}), 3).to_vector<int32_t>(), (Ints{3, 5}));
  EXPECT_EQ(maximum(array({false, true}), false).to_vector<bool>(), (Bools{false, true}));
}

TEST(Binary, SignsAndNeighbours) {
  expect_same(
      copysign(array({1.0, -2.0, 0.0, kInf}, float64), array({-0.0, 3.0, -1.0, -kInf}, float64)),
      {-1.0, 2.0, -0.0, -kInf});
  expect_same(heaviside(array({-1.0, 0.0, 2.0, kNan}, float64), 0.5), {0.0, 0.5, 1.0, kNan});
  const Floats f = nextafter(array({1.0f, 0.0f, -1.0f, 5.0f}), array({2.0f, -1.0f, -2.0f, 5.0f}))
                       .to_vector<float>();
  EXPECT_EQ(f, (Floats{std::nextafter(1.0f, 2.0f), -std::numeric_limits<float>::denorm_min(),
                       std::nextafter(-1.0f, -2.0f), 5.0f}));
  const Array one = ones({1}, bfloat16);
  EXPECT_EQ(values(nextafter(one, 2.0))[0], 1.0078125);
  EXPECT_EQ(values(nextafter(one, 0.0))[0], 1 - 0.00390625);
  expect_same(nextafter(array({kNan, 1.0, std::numeric_limits<double>::max()}, float64),
                        array({1.0, kNan, kInf}, float64)),
              {kNan, kNan, kInf});
}

TEST(Binary, IntegerFunctions) {
  EXPECT_EQ(gcd(array({12, -12, 0, 7}), array({18, 18, 5, 0})).to_vector<int32_t>(),
            (Ints{6, 6, 5, 7}));
  EXPECT_EQ(lcm(array({4, -4, 0}), array({6, 6, 5})).to_vector<int32_t>(), (Ints{12, 12, 0}));
  EXPECT_THROW((void)gcd(array({1.0}, float64), 2), DtypeError);
}

TEST(Logic, BitsAndShifts) {
  EXPECT_EQ((array({12, -1}) & array({10, 255})).to_vector<int32_t>(), (Ints{8, 255}));
  EXPECT_EQ((array({12, 1}) | 3).to_vector<int32_t>(), (Ints{15, 3}));
  EXPECT_EQ((array({true, true}) ^ array({true, false})).to_vector<bool>(), (Bools{false, true}));
  const Array by = array({1, 31, 32, -1, 100});
  EXPECT_EQ((array(3) << by).to_vector<int32_t>(), (Ints{6, kLowest, 0, 0, 0}));
  EXPECT_EQ((array(-8) >> by).to_vector<int32_t>(), (Ints{-4, -1, -1, -1, -1}));
  EXPECT_EQ(right_shift_logical(array(-8), by).to_vector<int32_t>(),
            (Ints{0x7ffffffc, 1, 0, 0, 0}));
  EXPECT_EQ((array({uint8_t{200}}) >> array({uint8_t{3}})).to_vector<uint8_t>(),
            std::vector<uint8_t>{25});
  EXPECT_EQ((array({int8_t{-128}}) >> 7).to_vector<int8_t>(), std::vector<int8_t>{-1});
  EXPECT_THROW((void)(array({1.0f}) & array({1})), DtypeError);
  EXPECT_THROW((void)(array({true}) << array({true})), DtypeError);
}

TEST(Logic, TruthOfAnyDtype) {
  const Array a = array({0.0, 2.0, kNan, 0.0}, float64), b = array({0, 0, 1, -1});
  EXPECT_EQ(logical_and(a, b).to_vector<bool>(), (Bools{false, false, true, false}));
  EXPECT_EQ(logical_or(a, b).to_vector<bool>(), (Bools{false, true, true, true}));
  EXPECT_EQ(logical_xor(a, b).to_vector<bool>(), (Bools{false, true, false, true}));
  EXPECT_EQ(logical_not(a).to_vector<bool>(), (Bools{true, false, false, true}));
}

TEST(Compare, Operators) {
  const Array a = array({1.0, 2.0, kNan}, float64), b = array({2.0, 2.0, kNan}, float64);
  EXPECT_EQ((a < b).to_vector<bool>(), (Bools{true, false, false}));
  EXPECT_EQ((a <= b).to_vector<bool>(), (Bools{true, true, false}));
  EXPECT_EQ((a > b).to_vector<bool>(), (Bools{false, false, false}));
  EXPECT_EQ((a >= b).to_vector<bool>(), (Bools{false, true, false}));
  EXPECT_EQ((a == b).to_vector<bool>(), (Bools{false, true, false}));
  EXPECT_EQ((a != b).to_vector<bool>(), (Bools{true, false, true}));
  EXPECT_EQ((array({false, true}) < true).to_vector<bool>(), (Bools{true, false}));
}

TEST(Compare, Closeness) {
  const Array a = array({1.0, kInf, kNan, 1e-9}, float64),
              b = array({1.000001, kInf, kNan, 0.0}, float64);
  EXPECT_EQ(isclose(a, b).to_vector<bool>(), (Bools{true, true, false, true}));
  EXPECT_EQ(isclose(a, b, {.rtol = 0, .atol = 0, .equal_nan = true}).to_vector<bool>(),
            (Bools{false, true, true, false}));
  EXPECT_FALSE(allclose(a, b));
  EXPECT_TRUE(allclose(a, b, {.equal_nan = true}));
  EXPECT_FALSE(allclose(array({kInf}, float64), array({1.0}, float64)));
  EXPECT_FALSE(allclose(array({1.0}, float64), array({kInf}, float64)));
  EXPECT_TRUE(allclose(zeros({0, 2}), ones({2})));
  EXPECT_FALSE(allclose(array({16777216}), array({16777217}), {.rtol = 0, .atol = 0.5}));
  EXPECT_TRUE(allclose(ones({2}, float16), 1.0));
  EXPECT_TRUE(allclose(array({0.1f}), 0.1, {.rtol = 0, .atol = 0}));
  EXPECT_TRUE(array_equal(array({1, 2}), array({1.0, 2.0}, float64)));
  EXPECT_FALSE(array_equal(array({1, 2}), array({1, 3})));
  EXPECT_FALSE(array_equal(ones({2}), ones({1, 2}))) << "no broadcasting";
  EXPECT_FALSE(array_equal(array({kNan}, float64), array({kNan}, float64)));
  EXPECT_TRUE(array_equal(array({kNan}, float64), array({kNan}, float64), {.equal_nan = true}));
  EXPECT_THROW((void)allclose(ones({2}), ones({3})), ShapeError);
  const auto ask = [](Array x) { return allclose(x, 1.0f) ? x : -x; };
  EXPECT_EQ(grad(ask)(array(1.0f)).item<float>(), 1.0f) << "under grad the value is known";
  EXPECT_THROW((void)vmap(ask)(ones({2})), TracerError);
}

TEST(Select, WhereAndClip) {
  const Array c = array({true, false, true});
  EXPECT_EQ(where(c, array({1, 2, 3}), -1).to_vector<int32_t>(), (Ints{1, -1, 3}));
  EXPECT_EQ(
      where(array({{1.0}, {0.0}}, float64), array({1, 2}), array({3, 4})).to_vector<int32_t>(),
      (Ints{1, 2, 3, 4}));
  EXPECT_EQ(where(true, array({1, 2}), array({3, 4})).to_vector<int32_t>(), (Ints{1, 2}));
  EXPECT_EQ(where(c, true, array({false, false, true})).to_vector<bool>(),
            (Bools{true, false, true}));
  expect_same(where(c, ones({3}, float16), array({kNan, 2.0, kNan}, float64)), {1.0, 2.0, 1.0});
  EXPECT_EQ(where(zeros({0, 3}), ones({3}), 1.0f).shape(), (Shape{0, 3}));
  expect_same(clip(array({-2.0, 0.5, 3.0, kNan}, float64), -1, 1), {-1.0, 0.5, 1.0, kNan});
  expect_same(clip(array({0.5, 0.5, 0.5}, float64), array({1.0, kNan, 0.0}, float64),
                   array({0.0, 1.0, kNan}, float64)),
              {0.0, kNan, kNan});
  EXPECT_EQ(clip(array({{-5, 5}}), array({{-1}, {-2}}), array({3, 4})).to_vector<int32_t>(),
            (Ints{-1, 4, -2, 4}));
  EXPECT_EQ(clip(array({1, 5}), 0, 2.5).dtype(), float32);
}

float slope(const UnaryFunction& f, float x) {
  return grad([&](Array v) { return f(v); })(array(x)).item<float>();
}

TEST(Kinks, DerivativesAreTheDocumentedOnes) {
  EXPECT_EQ(slope(abs, 0.0f), 0.0f);
  EXPECT_EQ(slope(abs, -3.0f), -1.0f);
  EXPECT_EQ(slope(sign, 0.0f), 0.0f);
  EXPECT_EQ(slope(floor, 1.0f), 0.0f);
  const auto larger = [](Array a, Array b) { return sum(maximum(a, b)); };
  const auto [da, db] = grad<0, 1>(larger)(array({1.0f, 2.0f, 3.0f}), array({1.0f, 5.0f, 0.0f}));
  EXPECT_EQ(da.to_vector<float>(), (Floats{0.5f, 0.0f, 1.0f}));
  EXPECT_EQ(db.to_vector<float>(), (Floats{0.5f, 1.0f, 0.0f}));
  const auto clipped = [](Array x, Array low, Array high) { return sum(clip(x, low, high)); };
  const auto [dx, dl, dh] =
      grad<0, 1, 2>(clipped)(array({-2.0f, -1.0f, 0.0f, 1.0f, 2.0f}), array(-1.0f), array(1.0f));
  EXPECT_EQ(dx.to_vector<float>(), (Floats{0, 1, 1, 1, 0}));
  EXPECT_EQ(dl.item<float>(), 1.0f);
  EXPECT_EQ(dh.item<float>(), 1.0f);
  const auto [px, py] = grad<0, 1>([](Array x, Array y) { return sum(power(x, y)); })(
      array({0.0f, 0.0f, 2.0f}), array({0.0f, 2.0f, 0.0f}));
  EXPECT_EQ(px.to_vector<float>(), (Floats{0, 0, 0}));
  EXPECT_EQ(py.to_vector<float>(), (Floats{0, 0, std::numbers::ln2_v<float>}));
  const auto [hx, hy] = grad<0, 1>([](Array x, Array y) { return hypot(x, y) + atan2(y, x); })(
      array(0.0f), array(0.0f));
  EXPECT_EQ(hx.item<float>(), 0.0f);
  EXPECT_EQ(hy.item<float>(), 0.0f);
}

TEST(Kinks, PowersOfZeroHaveDerivativesOfEveryOrder) {
  const auto cube = [](Array x) { return power(x, 3); };
  EXPECT_EQ(grad(cube)(array(0.0f)).item<float>(), 0.0f);
  EXPECT_EQ(grad(grad(cube))(array(0.0f)).item<float>(), 0.0f);
  EXPECT_EQ(grad(grad(grad(cube)))(array(0.0f)).item<float>(), 6.0f);
  EXPECT_EQ(grad(grad(grad(grad(cube))))(array(0.0f)).item<float>(), 0.0f);
}

TEST(Kinks, LogaddexpIsSmoothWhereBothAreEqual) {
  const auto f = [](Array x) { return logaddexp(x, 1.0); };
  EXPECT_DOUBLE_EQ(grad(f)(array(1.0, float64)).item<double>(), 0.5);
  EXPECT_DOUBLE_EQ(grad(grad(f))(array(1.0, float64)).item<double>(), 0.25);
  const auto same = [](Array x) { return logaddexp(x, array(-kInf, float64)); };
  EXPECT_EQ(grad(same)(array(-kInf, float64)).item<double>(), 0.5);
}

TEST(Functions, CanBePassedByName) {
  const Array x = array({{1.0f, 4.0f}, {9.0f, 16.0f}});
  EXPECT_EQ(vmap(sqrt)(x).to_vector<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(vmap(square)(x).to_vector<float>(), (Floats{1, 16, 81, 256}));
  EXPECT_EQ(vmap(maximum)(x, -x).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(grad(square)(array(3.0f)).item<float>(), 6.0f);
}

TEST(Functions, CompoundAssignment) {
  Array x = array({1.0f, 2.0f});
  const Array before = x;
  x += 1;
  x *= array({2.0f, 3.0f});
  x -= 1.0;
  x /= 2;
  EXPECT_EQ(x.to_vector<float>(), (Floats{1.5f, 4.0f}));
  EXPECT_EQ(before.to_vector<float>(), (Floats{1.0f, 2.0f}));
}

TEST(Functions, MistakesAreNamed) {
  EXPECT_THROW((void)(-array({true})), DtypeError);
  EXPECT_THROW((void)(array({true}) - array({true})), DtypeError);
  EXPECT_THROW((void)exp(Array()), ValueError);
  EXPECT_THROW((void)(Array() + array(1)), ValueError);
  EXPECT_THROW((void)positive(array({true})), DtypeError);
  try {
    (void)bitwise_not(array({1.0f}));
    FAIL();
  } catch (const DtypeError& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("not: takes bool or integers, got f32[1]; convert with astype\n  at "));
    EXPECT_THAT(e.what(), HasSubstr("math_ops_test.cc:"));
  }
}

}  // namespace math_ops_test
}  // namespace spruce
