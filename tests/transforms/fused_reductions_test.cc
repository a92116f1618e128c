// SPDX-License-Identifier: Apache-2.0
// Reductions of what is converted before: compiled, where the conversion is part of the loop, they
// give what evaluation gives, in every pair of dtypes, at the ends of their ranges.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/transforms/compile/jit.h"

namespace spruce {
namespace fused_reductions_test {

struct Reduction {
  const char* name;
  Array (*apply)(const Array& x, const AxisArg& axes);
  bool rounded;  // sums: in another order they are rounded otherwise
};
const Reduction kReductions[] = {
    {"sum", [](const Array& x, const AxisArg& a) { return sum(x, a); }, true},
    {"prod", [](const Array& x, const AxisArg& a) { return prod(x, a); }, true},
    {"max", [](const Array& x, const AxisArg& a) { return max(x, a); }, false},
    {"min", [](const Array& x, const AxisArg& a) { return min(x, a); }, false},
    {"any", [](const Array& x, const AxisArg& a) { return any(x, a); }, false},
    {"all", [](const Array& x, const AxisArg& a) { return all(x, a); }, false},
    {"argmax", [](const Array& x, const AxisArg&) { return argmax(x, -1); }, false},
    {"mean", [](const Array& x, const AxisArg& a) { return mean(x, a); }, true},
};

// Without products, which overflow here, and argmax, which takes no axes.
std::vector<Reduction> reductions_of_many() {
  std::vector<Reduction> some;
  for (const Reduction& r : kReductions)
    if (std::string(r.name) != "prod" && std::string(r.name) != "argmax") some.push_back(r);
  return some;
}

// What the elements that come one after the other are chosen from.
std::vector<std::vector<double>> choices(Dtype dtype) {
  if (is_bool(dtype)) return {{0, 1}, {1}};
  if (is_integer(dtype)) {
    const double most =
        std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - (is_signed_integer(dtype) ? 1 : 0));
    // The largest number that is whole in f64.
    const double top = size_of(dtype) == 8 ? most - 1024 : most - 1;
    const double low = is_signed_integer(dtype) ? -most : 0;
    return {{top, low, 1, 0, top, 3}, {top, 1, 2, top, top}, {1, 2, 3, 1, 1}};
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {{0.5, -0.0, 1.5, -2, 200, 1},
          {1, kInf, 2, 3},
          {1, -kInf, 0.5},
          {1, nan, 2, 0},
          {kInf, -kInf, 1},
          {-1, -2, -0.5, 0.0, -0.0}};
}

Array numbers(Dtype dtype, const std::vector<double>& from, const Shape& shape) {
  std::vector<double> x;
  for (int64_t i = 0; i < shape.numel(); ++i)
    x.push_back(from[static_cast<size_t>(i * 7 + i / 5) % from.size()]);
  return astype(array(x, shape), dtype);
}

// As elements of f64 (whole numbers of 64 bits as they are).
bool agree(double got, double want, double largest, Dtype dtype, bool rounded) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return true;
  if (!rounded || !is_floating(dtype) || !std::isfinite(want)) return false;
  const double eps = dtype == float64   ? 1e-14
                     : dtype == float32 ? 1e-6
                     : dtype == float16 ? 2e-3
                                        : 2e-2;
  return std::abs(got - want) <= eps * std::max(largest, std::abs(want));
}

void expect_same(const Reduction& r, const Array& x, Dtype to, const AxisArg& axes) {
  const auto f = [&](const Array& a) { return r.apply(astype(a, to), axes); };
  const Array want = f(x), got = jit(f)(x);
  ASSERT_EQ(to_string(got.aval()), to_string(want.aval()));
  const double sizes = x.size() == 0 || !r.rounded || !is_floating(want.dtype())
                           ? 0
                           : sum(abs(astype(astype(x, to), float64))).item<double>();
  if (is_floating(want.dtype())) {
    const auto a = astype(got, float64).to_vector<double>(),
               b = astype(want, float64).to_vector<double>();
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_TRUE(agree(a[i], b[i], sizes, want.dtype(), r.rounded)) << a[i] << " and " << b[i];
  } else {
    ASSERT_TRUE(all(got == want).item<bool>()) << got << " and " << want;
  }
}

TEST(FusedReductions, OfConvertedElementsAreThoseOfEvaluation) {
  for (const Reduction& r : kReductions) {
    for (int from = 0; from < kDtypeCount; ++from) {
      for (int to = 0; to < kDtypeCount; ++to) {
        const Dtype a = static_cast<Dtype>(from), b = static_cast<Dtype>(to);
        for (const std::vector<double>& values : choices(a)) {
          SCOPED_TRACE(std::string(r.name) + " of " + std::string(name(a)) + " as " +
                       std::string(name(b)));
          expect_same(r, numbers(a, values, {6}), b, none);
          expect_same(r, numbers(a, values, {100}), b, none);
          expect_same(r, numbers(a, values, {5, 40}), b, -1);
          expect_same(r, numbers(a, values, {40, 5}), b, 0);
          expect_same(r, numbers(a, values, {9, 70}), b, 0);
          expect_same(r, numbers(a, values, {3, 4, 70}), b, 0);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// What is made of each row by a reduction is reduced further, along the rows and across them, in
// the same loop.
TEST(FusedReductions, OfReducedRowsAreThoseOfEvaluation) {
  for (const Dtype dtype : {float32, float64, float16, bfloat16, int32, uint8, int64, bool_}) {
    for (const std::vector<double>& values : choices(dtype)) {
      for (const Shape& shape : {Shape{5, 400, 3}, Shape{7, 9, 70}, Shape{70, 6, 5}}) {
        const Array x = numbers(dtype, values, shape);
        for (const Reduction& of_rows : reductions_of_many()) {
          const Array y = of_rows.apply(x, -1);
          const double largest =
              is_floating(y.dtype()) ? sum(abs(astype(y, float64))).item<double>() : 0;
          for (const Reduction& r : reductions_of_many()) {
            for (const AxisArg& axes : {AxisArg(0), AxisArg(1), AxisArg({0, 1})}) {
              SCOPED_TRACE(std::string(r.name) + " of " + of_rows.name + " of " +
                           to_string(x.aval()));
              const auto f = [&](const Array& v) { return r.apply(of_rows.apply(v, -1), axes); };
              const Array want = f(x), got = jit(f)(x);
              const bool rounded = r.rounded || of_rows.rounded;
              const auto a = astype(got, float64).to_vector<double>(),
                         b = astype(want, float64).to_vector<double>();
              for (size_t i = 0; i < a.size(); ++i)
                ASSERT_TRUE(agree(a[i], b[i], largest, want.dtype(), rounded))
                    << a[i] << " and " << b[i];
            }
          }
        }
      }
    }
  }
}

// Over axes outside of long rows, which the loop walks inside of those that stay; in several pieces
// where there are many elements, with the same bits for any number of threads.
TEST(FusedReductions, OverOuterAxesOfLongRowsAreThoseOfEvaluation) {
  const int before = threads();
  for (const Dtype dtype : {float32, float64, bfloat16, int32, bool_}) {
    for (const Shape& shape : {Shape{7, 5, 600}, Shape{3, 4, 5, 513}, Shape{60, 40, 700}}) {
      const int rank = static_cast<int>(shape.size());
      for (const std::vector<int64_t>& axes :
           std::vector<std::vector<int64_t>>{{0}, {1}, {0, 1}, {0, rank - 1}}) {
        const auto f = [&](const Array& column, const Array& row) {
          const Array x = column * row;  // f[..., 1] and f[..., n]
          return std::pair{sum(x, axes), max(x, axes)};
        };
        Shape columns = shape, rows = shape;
        columns.back() = 1, rows[rank - 2] = 1;
        const Array a = numbers(dtype, choices(dtype)[0], columns),
                    b = numbers(dtype, {1, 0, 2, 1, 3}, rows);
        SCOPED_TRACE(to_string(a.aval()) + to_string(b.aval()) + " over axis " +
                     std::to_string(axes[0]));
        const auto want = f(a, b);
        const double largest =
            is_floating(dtype) ? sum(abs(astype(a * b, float64))).item<double>() : 0;
        std::vector<double> first;
        for (const int team : {1, 3}) {
          set_threads(team);
          const auto got = jit(f)(a, b);
          set_threads(before);
          const auto x = astype(got.first, float64).to_vector<double>(),
                     y = astype(want.first, float64).to_vector<double>();
          for (size_t i = 0; i < x.size(); ++i)
            ASSERT_TRUE(agree(x[i], y[i], largest, want.first.dtype(), true))
                << x[i] << " and " << y[i];
          ASSERT_TRUE(array_equal(got.second, want.second));
          if (team == 1) first = x;
          ASSERT_EQ(x, first);
        }
      }
    }
  }
}

// In some orders of multiplication, infinity meets zero.
TEST(FusedReductions, AProductWithAZeroAmongFiniteFactorsIsZero) {
  for (const int64_t n : {int64_t{6}, int64_t{20}, int64_t{100}, int64_t{5000}}) {
    for (const int64_t zero : {int64_t{0}, n / 2, n - 1}) {
      std::vector<int32_t> x(static_cast<size_t>(n), std::numeric_limits<int32_t>::max());
      x[static_cast<size_t>(zero)] = 0;
      x[static_cast<size_t>((zero + 1) % n)] = -1;
      const Array a = array(x);
      for (const Dtype dtype : {float32, float64, bfloat16}) {
        const auto whole = [&](const Array& v) { return prod(astype(v, dtype)); };
        const auto rows = [&](const Array& v) {
          return prod(astype(stack({v, v}, 1), dtype) * astype(array(2), dtype), 0);
        };
        EXPECT_EQ(astype(whole(a), float64).item<double>(), 0) << n;
        EXPECT_EQ(astype(jit(whole)(a), float64).item<double>(), 0) << n;
        const Array negative = astype(jit(rows)(a), float64);
        EXPECT_EQ(negative.to_vector<double>(), (std::vector<double>{0, 0})) << n;
        EXPECT_TRUE(std::signbit(negative.to_vector<double>()[1]));
      }
    }
  }
  const float inf = std::numeric_limits<float>::infinity();
  const auto product = [](const Array& v) { return prod(v); };
  EXPECT_TRUE(std::isnan(prod(array({0.0f, inf, 2.0f})).item<float>()));
  EXPECT_TRUE(std::isnan(jit(product)(array({0.0f, inf, 2.0f})).item<float>()));
  EXPECT_TRUE(std::isnan(prod(array({0.0f, std::nanf(""), 2.0f})).item<float>()));
}

}  // namespace fused_reductions_test
}  // namespace spruce
