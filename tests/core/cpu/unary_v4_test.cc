// SPDX-License-Identifier: Apache-2.0
// Functions with loops for AVX-512: against those of doubles, and against core/math.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/math/math.h"

namespace spruce {
namespace unary_v4_test {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Function {
  std::string name;
  std::function<Array(const Array&)> ours;
  double (*exact)(double);
  double most_ulps;
  std::vector<float> special;  // of inf, -inf, 0 and -0
};

void PrintTo(const Function& f, std::ostream* os) { *os << f.name; }

std::vector<float> run(const Function& f, const std::vector<float>& x) {
  return f.ours(array(x)).to_vector<float>();
}

// In the spacing of the floats at the exact result; inf is 2^128 here, as its rounding is.
double error_in_ulps(float got, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  const double y = std::isinf(got) ? std::copysign(0x1p128, got) : static_cast<double>(got);
  return std::abs(y - std::min(exact, 0x1p128)) / ulp;
}

class UnaryV4 : public testing::TestWithParam<Function> {};

std::vector<float> floats_of_all_sizes() {
  std::vector<float> x;
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 4093) {
    float v;
    std::memcpy(&v, &bits, sizeof(v));
    x.push_back(v);
    x.push_back(-v);
  }
  for (int i = -8192; i <= 8192; ++i) x.push_back(static_cast<float>(i) * (110.0f / 8192));
  return x;
}

TEST_P(UnaryV4, IsAccurate) {
  const std::vector<float> x = floats_of_all_sizes();
  const std::vector<float> y = run(GetParam(), x);
  double worst = 0;
  float where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = error_in_ulps(y[i], GetParam().exact(static_cast<double>(x[i])));
    if (!(error <= worst)) worst = error, where = x[i];
  }
  EXPECT_LT(worst, GetParam().most_ulps) << "at " << where;
}

TEST_P(UnaryV4, OfSpecialValues) {
  const std::vector<float> y = run(GetParam(), {kInf, -kInf, 0.0f, -0.0f, kNan});
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(y[i], GetParam().special[i]) << i;
    EXPECT_EQ(std::signbit(y[i]), std::signbit(GetParam().special[i])) << i;
  }
  EXPECT_TRUE(std::isnan(y[4]));
}

TEST_P(UnaryV4, DoesNotDependOnThePlace) {
  std::vector<float> x;
  for (int i = 0; i < 75; ++i) x.push_back(static_cast<float>(i - 37) * 0.37f);
  const std::vector<float> whole = run(GetParam(), x);
  for (size_t n = 1; n < x.size(); ++n) {
    const auto first = x.end() - static_cast<int64_t>(n);
    const std::vector<float> y = run(GetParam(), {first, x.end()});
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], whole[x.size() - n + i]) << n << ", " << i;
  }
}

using Fma = math::Isa<true>;

struct Exp {
  static SPRUCE_INLINE float call(float x) { return math::exp<Fma>(x); }
};
struct Logistic {
  static SPRUCE_INLINE float call(float x) { return math::logistic<Fma>(x); }
};
struct Silu {
  static SPRUCE_INLINE float call(float x) { return x * math::logistic<Fma>(x); }
};
struct Tanh {
  static SPRUCE_INLINE float call(float x) { return math::tanh<Fma>(x); }
};

template <class F>
SPRUCE_TARGET_V3 void reference(const float* x, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = F::call(x[i]);
}

template <class F>
void expect_bits(const std::string& name, const std::function<Array(const Array&)>& ours) {
  const std::vector<float> x = floats_of_all_sizes(), y = ours(array(x)).to_vector<float>();
  std::vector<float> want(x.size());
  reference<F>(x.data(), want.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(std::memcmp(&y[i], &want[i], sizeof(float)), 0) << name << " of " << x[i];
}

TEST(UnaryV4Bits, AreThoseOfTheFunctions) {
  if (cpu::isa_level() < cpu::IsaLevel::kV3) GTEST_SKIP() << "no fused multiply-add here";
  expect_bits<Exp>("exp", [](const Array& x) { return exp(x); });
  expect_bits<Logistic>("logistic", [](const Array& x) { return logistic(x); });
  expect_bits<Silu>("silu", [](const Array& x) { return nn::silu(x); });
  expect_bits<Tanh>("tanh", [](const Array& x) { return tanh(x); });
}

struct ExpOfDoubles {
  static SPRUCE_INLINE double call(double x) { return math::exp<Fma>(x); }
};
struct LogOfDoubles {
  static SPRUCE_INLINE double call(double x) { return math::log<Fma>(x); }
};

template <class F>
SPRUCE_TARGET_V3 void reference_of_doubles(const double* x, double* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = F::call(x[i]);
}

std::vector<double> doubles_of_all_sizes() {
  std::vector<double> x;
  for (uint64_t bits = 0; bits < 0x7ff0000000000000u; bits += 0xfffffffff4321u) {
    for (const uint64_t more : {uint64_t{0}, uint64_t{0x5a5a5a5a5}}) {
      const uint64_t all = bits + more;
      double v;
      std::memcpy(&v, &all, sizeof(v));
      x.push_back(v);
      x.push_back(-v);
    }
  }
  for (int i = -60000; i <= 60000; ++i) x.push_back(i * (760.0 / 60000));
  for (int i = 1; i <= 60000; ++i) x.push_back(i * (3.0 / 60000));
  const double inf = std::numeric_limits<double>::infinity();
  for (const double v :
       {inf, -inf, 0.0, -0.0, 5e-324, 1.0, 709.78271289338397, -745.13321910194111})
    x.push_back(v);
  return x;
}

template <class F>
void expect_bits_of_doubles(const std::string& name,
                            const std::function<Array(const Array&)>& ours) {
  const std::vector<double> x = doubles_of_all_sizes(), y = ours(array(x)).to_vector<double>();
  std::vector<double> want(x.size());
  reference_of_doubles<F>(x.data(), want.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(std::memcmp(&y[i], &want[i], sizeof(double)), 0)
        << name << " of " << x[i] << ": " << y[i] << ", " << want[i];
  EXPECT_TRUE(std::isnan(ours(array(std::numeric_limits<double>::quiet_NaN())).item<double>()));
  for (const int n : {1, 5, 8, 13, 17}) {
    const std::vector<double> last(x.end() - n, x.end()),
        alone = ours(array(last)).to_vector<double>();
    EXPECT_EQ(std::memcmp(alone.data(), &y[x.size() - static_cast<size_t>(n)],
                          static_cast<size_t>(n) * sizeof(double)),
              0)
        << name << " of the last " << n;
  }
}

TEST(UnaryV4Bits, OfDoublesAreThoseOfTheFunctions) {
  if (cpu::isa_level() < cpu::IsaLevel::kV3) GTEST_SKIP() << "no fused multiply-add here";
  expect_bits_of_doubles<ExpOfDoubles>("exp", [](const Array& x) { return exp(x); });
  expect_bits_of_doubles<LogOfDoubles>("log", [](const Array& x) { return log(x); });
}

INSTANTIATE_TEST_SUITE_P(
    , UnaryV4,
    testing::Values(
        Function{"exp", [](const Array& x) { return exp(x); }, std::exp, 1.0, {kInf, 0, 1, 1}},
        Function{"logistic",
                 [](const Array& x) { return logistic(x); },
                 [](double x) { return 1 / (1 + std::exp(-x)); },
                 2.5,
                 {1, 0, 0.5f, 0.5f}},
        Function{"tanh", [](const Array& x) { return tanh(x); }, std::tanh, 2.5, {1, -1, 0, -0.0f}},
        Function{"erf", [](const Array& x) { return erf(x); }, std::erf, 2.5, {1, -1, 0, -0.0f}}),
    [](const auto& info) { return info.param.name; });

}  // namespace unary_v4_test
}  // namespace spruce
