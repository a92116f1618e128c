// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/norm.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/transforms/transforms.h"
#include "tests/core/message.h"

namespace spruce {
namespace reduce_ops_test {

using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Ints ints(const Array& x) { return astype(x, int32).to_vector<int32_t>(); }

Array random_array(const Shape& shape, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int32_t> values(-50, 50);
  std::vector<int32_t> out(static_cast<size_t>(shape.numel()));
  for (int32_t& v : out) v = values(engine);
  return array(out, shape);
}

// Reduces by the definition, one element after another.
template <class F>
Ints by_hand(const Array& x, const Axes& axes, int32_t start, const F& f) {
  const Ints values = ints(x);
  const Shape strides = row_major_strides(x.shape()), kept = rules::without_axes(x.shape(), axes);
  const Shape kept_strides = row_major_strides(kept);
  Ints out(static_cast<size_t>(kept.numel()), start);
  for (int64_t k = 0; k < x.size(); ++k) {
    int64_t at = 0;
    for (int i = 0, j = 0; i < x.rank(); ++i) {
      if (!axes.contains(i)) at += k / strides[i] % x.shape()[i] * kept_strides[j++];
    }
    out[static_cast<size_t>(at)] = f(out[static_cast<size_t>(at)], values[static_cast<size_t>(k)]);
  }
  return out;
}

TEST(Reduce, EveryKindOfAxes) {
  const std::vector<std::pair<Shape, Axes>> cases = {
      {{1000}, {0}},          {{3, 5000}, {1}},       {{5000, 3}, {0}},    {{700, 64}, {0}},
      {{64, 700}, {1}},       {{130, 2100}, {0}},     {{7, 150, 33}, {1}}, {{7, 33, 150}, {0, 2}},
      {{2, 3, 4, 5}, {0, 2}}, {{2, 3, 4, 5}, {1, 3}}, {{2, 3, 4, 5}, {}},  {{4, 3, 2}, {0, 1, 2}},
      {{1, 5, 1}, {0, 2}},    {{5, 0, 3}, {1}},       {{5, 0, 3}, {0}},    {{3000, 17}, {0}},
      {{9, 2000, 2}, {1}},    {{1, 1}, {0, 1}},       {{40000}, {0}},      {{65, 9}, {0}}};
  for (const auto& [shape, axes] : cases) {
    const Array x = random_array(shape, 1);
    const std::string what = to_string(shape) + to_string(axes);
    const auto add = [](int32_t a, int32_t b) { return a + b; };
    const Ints total = by_hand(x, axes, 0, add);
    EXPECT_EQ(ints(sum(x, axes)), total) << what;
    for (const Dtype d : {int64, float32, float64})
      EXPECT_EQ(ints(sum(astype(x, d), axes)), total) << what << name(d);
    EXPECT_EQ(ints(count_nonzero(x, axes)),
              by_hand(x, axes, 0, [](int32_t a, int32_t b) { return a + (b != 0); }))
        << what;
    EXPECT_EQ(ints(any(x > 48, axes)),
              by_hand(x, axes, 0, [](int32_t a, int32_t b) { return int32_t{a != 0 || b > 48}; }))
        << what;
    EXPECT_EQ(ints(all(x > -50, axes)),
              by_hand(x, axes, 1, [](int32_t a, int32_t b) { return int32_t{a != 0 && b > -50}; }))
        << what;
    if (x.size() == 0) continue;
    const Ints top = by_hand(x, axes, -1000, [](int32_t a, int32_t b) { return std::max(a, b); });
    const Ints low = by_hand(x, axes, 1000, [](int32_t a, int32_t b) { return std::min(a, b); });
    for (const Dtype d : {int8, int32, float16, bfloat16, float32, float64}) {
      EXPECT_EQ(ints(max(astype(x, d), axes)), top) << what << name(d);
      EXPECT_EQ(ints(min(astype(x, d), axes)), low) << what << name(d);
    }
  }
}

TEST(Reduce, DtypesOfResults) {
  const Array x = array({100, 100, 100});
  EXPECT_EQ(sum(astype(x, int8)).dtype(), int32);
  EXPECT_EQ(sum(astype(x, int8)).item<int32_t>(), 300);
  EXPECT_EQ(sum(astype(x, uint16)).dtype(), uint32);
  EXPECT_EQ(sum(astype(x, int64)).dtype(), int64);
  EXPECT_EQ(sum(x > 0).item<int32_t>(), 3);
  EXPECT_EQ(sum(astype(x, float16)).dtype(), float16);
  EXPECT_EQ(prod(astype(x, uint8)).item<uint32_t>(), 1000000u);
  EXPECT_EQ(mean(x).dtype(), float32);
  EXPECT_EQ(mean(x > 0).item<float>(), 1.0f);
  EXPECT_EQ(max(x > 0).dtype(), bool_);
  EXPECT_EQ(argmax(x, 0, {.dtype = int64}).dtype(), int64);
  EXPECT_EQ(ints(sum(array({std::numeric_limits<int32_t>::max(), 1}))),
            (Ints{std::numeric_limits<int32_t>::min()}));
}

TEST(Reduce, KeepdimsAndAxes) {
  const Array x = reshape(arange(24.0f), {2, 3, 4});
  EXPECT_EQ(sum(x, {0, -1}, {.keepdims = true}).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(sum(x, {-1, 0}).to_vector<float>(), (Floats{60, 92, 124}));
  EXPECT_EQ(argmax(x, 1, {.keepdims = true}).shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(argmax(x, none, {.keepdims = true}).shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(mean(x, 1).shape(), (Shape{2, 4}));
  EXPECT_EQ(message([&] { return sum(x, 3); }),
            "sum: axis 3 is out of range for an array of rank 3, whose axes are -3..2");
  EXPECT_EQ(message([&] { return mean(x, {0, -3}); }), "mean: axis -3 is given twice in [0,-3]");
  EXPECT_EQ(message([&] {
              return argmax(x, {0, 1});
            }),
            "argmax: 2 axes are named; name one, and merge several by reshape first");
}

TEST(Reduce, NoElements) {
  EXPECT_EQ(sum(zeros({0})).item<float>(), 0.0f);
  EXPECT_EQ(prod(zeros({0})).item<float>(), 1.0f);
  EXPECT_EQ(prod(zeros({2, 0}), 1).to_vector<float>(), (Floats{1, 1}));
  EXPECT_TRUE(std::isnan(mean(zeros({0})).item<float>()));
  EXPECT_TRUE(all(zeros({0})).item<bool>());
  EXPECT_FALSE(any(zeros({0})).item<bool>());
  EXPECT_EQ(logsumexp(zeros({0})).item<float>(), -kInf);
  EXPECT_EQ(norm(zeros({0})).item<float>(), 0.0f);
  EXPECT_EQ(max(zeros({0, 3}), 1).size(), 0);
  const char* next =
      " along axes [0], and none of nothing is the largest or smallest; reduce an array with "
      "elements there";
  EXPECT_EQ(message([] {
              return max(zeros({0, 3}), 0);
            }),
            std::string("max: f32[0,3] has no elements") + next);
  EXPECT_EQ(message([] { return argmin(zeros({0})); }),
            std::string("argmin: f32[0] has no elements") + next);
}

TEST(Reduce, LongSumsAreRight) {
  const int64_t n = int64_t{1} << 25;
  const Array x =
      100.0f + astype(arange(static_cast<int32_t>(n)) % 2, float32);  // 100, 101, 100, ...
  EXPECT_EQ(mean(x).item<float>(), 100.5f);
  EXPECT_EQ(mean(x.reshape({n / 2, 2}), 0).to_vector<float>(), (Floats{100, 101}));
  EXPECT_NEAR(var(x).item<float>(), 0.25f, 1e-6f);
  EXPECT_EQ(sum(ones({1000}, bfloat16)).item<float>(), 1000.0f);
  EXPECT_EQ(sum(ones({5000}, float16)).item<float>(), 5000.0f);
  EXPECT_EQ(sum(ones({2000, 3}, bfloat16), 0).astype(float32).to_vector<float>(),
            (Floats{2000, 2000, 2000}));
  EXPECT_EQ(mean(full({4096}, 300.0f, float16)).item<float>(), 300.0f);  // the sum is no f16
  EXPECT_EQ(cumsum(full({1 << 20}, 0.1f)).to_vector<float>().back(),
            static_cast<float>((1 << 20) * double{0.1f}));
}

TEST(Reduce, ResultsDoNotDependOnThreads) {
  std::mt19937 engine(3);
  std::normal_distribution<float> values;
  std::vector<float> v(3 * 257 * 1031);
  for (float& f : v) f = values(engine);
  const Array x = array(v, {3, 257, 1031});
  const int before = threads();
  std::vector<std::vector<Floats>> all;
  for (const int n : {1, 2, 5}) {
    set_threads(n);
    std::vector<Floats> results;
    for (const AxisArg& axes :
         {AxisArg(none), AxisArg(0), AxisArg(1), AxisArg(2), AxisArg{0, 2}, AxisArg{0, 1}}) {
      results.push_back(ravel(sum(x, axes)).to_vector<float>());
    }
    results.push_back(ravel(cumsum(x, 1)).to_vector<float>());
    all.push_back(results);
  }
  set_threads(before);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(Reduce, NanAndInfinity) {
  const Array x = array({{1.0f, kNan, 3.0f}, {-kInf, 2.0f, kInf}});
  EXPECT_TRUE(std::isnan(max(x).item<float>()));
  EXPECT_TRUE(std::isnan(min(x, 1).to_vector<float>()[0]));
  EXPECT_EQ(max(x, 1).to_vector<float>()[1], kInf);
  EXPECT_EQ(ints(argmax(x, 1)), (Ints{1, 2}));
  EXPECT_EQ(ints(argmin(x, 1)), (Ints{1, 0}));
  EXPECT_EQ(ints(argmax(x, 0)), (Ints{0, 0, 1}));
  for (const int64_t n : {1, 15, 16, 17, 63, 64, 100, 5000}) {
    for (const int64_t where_nan : {int64_t{0}, n / 2, n - 1}) {
      Floats v(static_cast<size_t>(n), 1.0f);
      v[static_cast<size_t>(where_nan)] = kNan;
      EXPECT_TRUE(std::isnan(max(array(v)).item<float>())) << n << " " << where_nan;
      EXPECT_EQ(argmax(array(v)).item<int64_t>(), where_nan) << n;
    }
  }
  EXPECT_EQ(max(full({3}, -kInf)).item<float>(), -kInf);
  EXPECT_EQ(argmax(full({3}, -kInf)).item<int32_t>(), 0);
}

TEST(Reduce, ArgmaxTakesTheFirst) {
  EXPECT_EQ(argmax(array({3, 7, 7, 1})).item<int32_t>(), 1);
  EXPECT_EQ(argmin(array({{3, 1}, {1, 1}})).item<int32_t>(), 1);
  std::vector<int32_t> v(10000, 5);
  v[4000] = v[4001] = v[9000] = 9;
  EXPECT_EQ(argmax(array(v)).item<int32_t>(), 4000);
  EXPECT_EQ(ints(argmax(array(v, {5000, 2}), 0)), (Ints{2000, 2000}));
  EXPECT_EQ(ints(argmax(reshape(arange(600), {2, 300, 1}), 1)), (Ints{299, 299}));
}

TEST(Reduce, PositionsFitTheirDtype) {
  const Array x = arange(300);
  EXPECT_EQ(argmax(x, 0, {.dtype = int16}).item<int16_t>(), 299);
  EXPECT_EQ(argmax(arange(128), 0, {.dtype = int8}).item<int8_t>(), 127);
  EXPECT_THROW(argmax(x, 0, {.dtype = int8}), DtypeError);
  EXPECT_THROW(argmin(x, none, {.dtype = uint8}), DtypeError);
  EXPECT_EQ(argmax(reshape(x, {3, 100}), 1, {.dtype = int8}).dtype(), int8);
  EXPECT_EQ(argmax(x).dtype(), int32);
}

TEST(Statistics, AsNumPy) {
  const Array x = array({{1.0, 2.0, 4.0}, {3.0, 5.0, 9.0}}, float64);
  EXPECT_NEAR(var(x).item<double>(), 20.0 / 3, 1e-14);
  EXPECT_NEAR(var(x, none, {.ddof = 1}).item<double>(), 8.0, 1e-14);
  EXPECT_NEAR(std(x, 0).to_vector<double>()[2], 2.5, 1e-14);
  EXPECT_EQ(average(x, array({1.0, 0.0, 1.0}, float64), 1).to_vector<double>(), (Doubles{2.5, 6}));
  EXPECT_EQ(ptp(x, 1).to_vector<double>(), (Doubles{3, 6}));
  EXPECT_NEAR(var(array({1, 2, 3, 4})).item<float>(), 1.25f, 1e-6f);
  // In f16 the squares of distances would overflow.
  EXPECT_EQ(std(astype(array({-1000.0f, 1000.0f}), float16)).item<float>(), 1000.0f);
}

TEST(Statistics, Median) {
  const Array x = array({{3.0f, 1.0f, 9.0f}, {4.0f, kNan, 2.0f}});
  EXPECT_EQ(median(x, 1).to_vector<float>()[0], 3.0f);
  EXPECT_TRUE(std::isnan(median(x, 1).to_vector<float>()[1]));
  EXPECT_EQ(median(array({4, 1, 3, 2})).item<float>(), 2.5f);
  EXPECT_EQ(
      median(reshape(arange(24.0f), {2, 3, 4}), {0, 2}, {.keepdims = true}).to_vector<float>(),
      (Floats{7.5f, 11.5f, 15.5f}));
  const auto g = grad([](const Array& x) { return median(x); });
  EXPECT_EQ(g(array({4.0f, 1.0f, 3.0f, 2.0f})).to_vector<float>(), (Floats{0, 0, 0.5f, 0.5f}));
  EXPECT_THROW(median(zeros({0})), ShapeError);
}

TEST(Logsumexp, StableAtTheEnds) {
  const Array x = array(
      {{1000.0f, 1000.0f}, {-1000.0f, -1001.0f}, {-kInf, -kInf}, {-kInf, 3.0f}, {kInf, 1.0f}});
  const Floats y = logsumexp(x, 1).to_vector<float>();
  EXPECT_FLOAT_EQ(y[0], 1000.6931472f);
  EXPECT_FLOAT_EQ(y[1], -999.6867383f);
  EXPECT_EQ(y[2], -kInf);
  EXPECT_EQ(y[3], 3.0f);
  EXPECT_EQ(y[4], kInf);
  EXPECT_TRUE(std::isnan(logsumexp(array({kNan, 1.0f})).item<float>()));
  const Array g = grad([](const Array& x) {
    return sum(where(isfinite(logsumexp(x, 1)), logsumexp(x, 1), 0.0f));
  })(x);
  EXPECT_EQ(ravel(g).to_vector<float>()[0], 0.5f);
  EXPECT_EQ(ravel(g).to_vector<float>()[6], 0.0f);
  EXPECT_EQ(ravel(g).to_vector<float>()[7], 1.0f);
  EXPECT_EQ(grad([](const Array& x) { return logsumexp(x); })(full({2}, -kInf)).to_vector<float>(),
            (Floats{0, 0}));
  EXPECT_EQ(logsumexp(x, {0, 1}, {.keepdims = true}).shape(), (Shape{1, 1}));
  EXPECT_EQ(logsumexp(astype(zeros({3000}), bfloat16)).item<float>(), 8.0f);
}

TEST(Norm, OrdersAndZero) {
  const Array x = array({{3.0, -4.0}, {0.0, 12.0}}, float64);
  EXPECT_DOUBLE_EQ(norm(x).item<double>(), 13.0);
  EXPECT_EQ(norm(x, {.axis = 1}).to_vector<double>(), (Doubles{5, 12}));
  const Array flat = ravel(x);
  EXPECT_EQ(norm(flat, {.ord = 1}).item<double>(), 19.0);
  EXPECT_EQ(norm(flat, {.ord = INFINITY}).item<double>(), 12.0);
  EXPECT_EQ(norm(flat, {.ord = -INFINITY}).item<double>(), 0.0);
  EXPECT_EQ(norm(flat, {.ord = 0}).item<double>(), 3.0);
  EXPECT_NEAR(norm(flat, {.ord = 3}).item<double>(), std::cbrt(27.0 + 64 + 1728), 1e-12);
  const Array zero = zeros({3}, float64);
  for (const double ord : {2.0, 3.0, 1.0, 0.5}) {
    EXPECT_EQ(
        grad([&](const Array& x) { return norm(x, none, {.ord = ord}); })(zero).to_vector<double>(),
        (Doubles{0, 0, 0}))
        << ord;
  }
  EXPECT_NEAR(grad([](const Array& x) { return norm(x); })(array({3.0, 4.0}, float64))
                  .to_vector<double>()[0],
              0.6, 1e-15);
}

TEST(Norm, OfANegativeOrderIsZeroWhereAnElementIs) {
  const auto inverse = [](const Array& x) { return norm(x, {.ord = -1}); };
  EXPECT_NEAR(inverse(array({2.0, 3.0, -1.0}, float64)).item<double>(), 6.0 / 11.0, 1e-15);
  const Array x = array({2.0, 0.0, 3.0, -1.0}, float64);
  EXPECT_EQ(inverse(x).item<double>(), 0.0);
  EXPECT_EQ(grad(inverse)(x).to_vector<double>(), Doubles(4, 0.0));
}

// As numpy.linalg.norm of [[3, -4], [0, 12]].
TEST(Norm, OfAMatrixByItsOrder) {
  const Array x = array({{3.0, -4.0}, {0.0, 12.0}}, float64);
  EXPECT_EQ(norm(x, {.ord = "fro"}).item<double>(), 13.0);
  EXPECT_EQ(norm(x, {.ord = 1}).item<double>(), 16.0);
  EXPECT_EQ(norm(x, {.ord = -1}).item<double>(), 3.0);
  EXPECT_EQ(norm(x, {.ord = INFINITY}).item<double>(), 12.0);
  EXPECT_EQ(norm(x, {.ord = -INFINITY}).item<double>(), 7.0);
  EXPECT_EQ(norm(x, {.ord = 1, .axis = {1, 0}}).item<double>(), 12.0);
  EXPECT_EQ(norm(x, {.ord = 1, .axis = 0}).to_vector<double>(), (Doubles{3, 16}));
  EXPECT_EQ(norm(x, {.ord = 1, .keepdims = true}).shape(), (Shape{1, 1}));
  EXPECT_EQ(norm(stack({x, 2 * x}), {.ord = 1, .axis = {1, 2}}).to_vector<double>(),
            (Doubles{16, 32}));
  // As numpy.linalg.norm gives them (2.4.6).
  EXPECT_NEAR(norm(x, {.ord = 2}).item<double>(), 12.686516249028065, 1e-13);
  EXPECT_NEAR(norm(x, {.ord = -2}).item<double>(), 2.8376584472319593, 1e-13);
  EXPECT_NEAR(norm(x, {.ord = "nuc"}).item<double>(), 15.524174696260024, 1e-13);
  EXPECT_EQ(norm(stack({x, 2 * x}, 1), {.ord = 2, .axis = {0, 2}, .keepdims = true}).shape(),
            (Shape{1, 2, 1}));
  EXPECT_EQ(norm(zeros({0, 3}), {.ord = 2}).item<float>(), 0);
  for (const double ord : {0.0, 3.0}) EXPECT_THROW((void)norm(x, {.ord = ord}), ValueError) << ord;
  EXPECT_THROW((void)norm(ravel(x), {.ord = "fro"}), ValueError);
  EXPECT_THROW((void)norm(zeros({2, 2, 2}), {.ord = 1}), ShapeError);
  EXPECT_NEAR(norm(zeros({2, 2, 2}) + 1).item<float>(), std::sqrt(8.0f), 1e-6f);
}

TEST(Nan, LeftOut) {
  const Array x = array({{1.0f, kNan, 4.0f}, {kNan, kNan, kNan}});
  EXPECT_EQ(nansum(x, 1).to_vector<float>(), (Floats{5, 0}));
  EXPECT_EQ(nanmean(x).item<float>(), 2.5f);
  EXPECT_EQ(nanmax(x, 1).to_vector<float>()[0], 4.0f);
  EXPECT_TRUE(std::isnan(nanmin(x, 1).to_vector<float>()[1]));
}

TEST(Gradients, TiesSplitEvenly) {
  const Array x = array({2.0f, 5.0f, 5.0f, 1.0f});
  EXPECT_EQ(grad([](const Array& x) { return max(x); })(x).to_vector<float>(),
            (Floats{0, 0.5f, 0.5f, 0}));
  EXPECT_EQ(grad([](const Array& x) { return min(x); })(zeros({4})).to_vector<float>(),
            (Floats{0.25f, 0.25f, 0.25f, 0.25f}));
  EXPECT_EQ(grad([](const Array& x) { return sum(cummax(x) * arange(1.0f, 4.0f)); })(
                array({1.0f, 1.0f, 1.0f}))
                .to_vector<float>(),
            (Floats{1 + 1 + 1, 1 + 1, 1}));
}

TEST(Gradients, ProductsWithZeros) {
  const auto g = grad([](const Array& x) { return prod(x); });
  EXPECT_EQ(g(array({2.0, 3.0, 4.0}, float64)).to_vector<double>(), (Doubles{12, 8, 6}));
  EXPECT_EQ(g(array({2.0, 0.0, 4.0}, float64)).to_vector<double>(), (Doubles{0, 8, 0}));
  EXPECT_EQ(g(array({0.0, 0.0, 4.0}, float64)).to_vector<double>(), (Doubles{0, 0, 0}));
  EXPECT_EQ(g(array({0.0, 0.0, 4.0, 5.0, 1.0}, float64).reshape({5})).size(), 5);
  const Array h = hessian([](const Array& x) { return prod(x); })(array({0.0, 0.0, 4.0}, float64));
  EXPECT_EQ(ravel(h).to_vector<double>(), (Doubles{0, 4, 0, 4, 0, 0, 0, 0, 0}));
  const auto running = [](const Array& x) { return sum(cumprod(x)); };
  EXPECT_EQ(grad(running)(array({2.0, 0.0, 4.0}, float64)).to_vector<double>(),
            (Doubles{1, 2 + 8, 0}));
  EXPECT_EQ(ravel(hessian(running)(array({0.0, 3.0, 0.0}, float64))).to_vector<double>(),
            (Doubles{0, 1, 3, 1, 0, 0, 3, 0, 0}));
}

TEST(Gradients, StatisticsAgreeWithTheirFormulas) {
  const Array x = array({1.0, 2.0, 4.0, 9.0}, float64);
  const Doubles g =
      grad([](const Array& x) { return var(x, none, {.ddof = 1}); })(x).to_vector<double>();
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(g[i], 2 * (x.to_vector<double>()[i] - 4) / 3, 1e-14);
  EXPECT_EQ(grad([](const Array& x) { return mean(x); })(x).to_vector<double>(),
            (Doubles{0.25, 0.25, 0.25, 0.25}));
}

TEST(Cumulative, ValuesAndDirections) {
  const Array x = array({{1, 3, 2}, {4, 1, 5}});
  EXPECT_EQ(ints(cumsum(x)), (Ints{1, 4, 6, 10, 11, 16}));
  EXPECT_EQ(ints(cumsum(x, 1)), (Ints{1, 4, 6, 4, 5, 10}));
  EXPECT_EQ(ints(cumsum(x, 0, {.reverse = true})), (Ints{5, 4, 7, 4, 1, 5}));
  EXPECT_EQ(ints(cumprod(x, -1)), (Ints{1, 3, 6, 4, 4, 20}));
  EXPECT_EQ(ints(cummax(x, 1)), (Ints{1, 3, 3, 4, 4, 5}));
  EXPECT_EQ(ints(cummin(x, 1, {.reverse = true})), (Ints{1, 2, 2, 1, 1, 5}));
  EXPECT_EQ(cumsum(x > 2, 1).dtype(), int32);
  EXPECT_EQ(cumsum(zeros({0, 3}), 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(cumsum(array(2.0f)).shape(), (Shape{1}));
  EXPECT_EQ(diff(array({1, 4, 9, 16})).to_vector<int32_t>(), (Ints{3, 5, 7}));
  EXPECT_EQ(diff(array({1, 4, 9, 16}), {.n = 2}).to_vector<int32_t>(), (Ints{2, 2}));
  const Floats nan = cummax(array({1.0f, kNan, 5.0f})).to_vector<float>();
  EXPECT_TRUE(nan[0] == 1.0f && std::isnan(nan[1]) && std::isnan(nan[2]));
  const Array wide = random_array({40, 150}, 5);
  EXPECT_TRUE(array_equal(cumsum(wide, 0), transpose(cumsum(transpose(wide), 1))));
}

TEST(Cumulative, RowsOfEveryLengthInAnyNumberBothWays) {
  for (const Dtype d : {int8, int32, int64, float16, float32, float64}) {
    for (const int64_t rows : {1, 3, 4, 16, 19, 33}) {
      for (const int64_t n : {1, 5, 63, 64, 65, 130}) {
        // Small integers, so that no sum is rounded.
        const Array x = reshape(remainder(arange(rows * n) * 7, 5) - 2, {rows, n});
        const Ints values = ints(x);
        for (const bool reverse : {false, true}) {
          Ints sums(values.size()), tops(values.size());
          for (int64_t r = 0; r < rows; ++r) {
            int32_t sum = 0, top = -100;
            for (int64_t k = 0; k < n; ++k) {
              const auto at = static_cast<size_t>(r * n + (reverse ? n - 1 - k : k));
              sums[at] = sum += values[at];
              tops[at] = top = std::max(top, values[at]);
            }
          }
          const std::string what = std::to_string(rows) + " x " + std::to_string(n);
          EXPECT_EQ(ints(astype(cumsum(astype(x, d), 1, {.reverse = reverse}), int32)), sums)
              << name(d) << what;
          EXPECT_EQ(ints(astype(cummax(astype(x, d), 1, {.reverse = reverse}), int32)), tops)
              << name(d) << what;
        }
      }
    }
  }
  EXPECT_EQ(ints(cumprod(full({3}, 1 << 20))), (Ints{1 << 20, 0, 0})) << "wraps";
}

TEST(Cumulative, LongRowsOfIntegersOnAnyNumberOfThreads) {
  const int before = threads();
  for (const Dtype d : {int32, uint32, int64, uint64}) {
    for (const int64_t n : {16383, 16384, 16387, 50003}) {
      // Sums beyond the range of 4 bytes wrap.
      const Array x = astype(random::randint(Key(3), {2, n}, 0, 1 << 20), d);
      const auto values = astype(x, int64).to_vector<int64_t>();
      std::vector<int64_t> sums(values.size());
      for (size_t i = 0; i < values.size(); ++i)
        sums[i] = values[i] + (i % static_cast<size_t>(n) == 0 ? 0 : sums[i - 1]);
      const Array expected = astype(array(sums, {2, n}), d);
      for (const int count : {1, 2, 5}) {
        set_threads(count);
        EXPECT_TRUE(array_equal(cumsum(x, 1), expected)) << name(d) << n << " " << count;
        EXPECT_TRUE(array_equal(cumsum(x[0]), expected[0])) << name(d) << n << " " << count;
      }
    }
  }
  set_threads(before);
}

TEST(Cumulative, Logsumexp) {
  const Array x = array({-kInf, 0.0f, 1000.0f, -5.0f, 1000.0f});
  const Floats y = cumlogsumexp(x).to_vector<float>();
  EXPECT_EQ(y[0], -kInf);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_EQ(y[3], 1000.0f);
  EXPECT_FLOAT_EQ(y[4], 1000.6931472f);
  const Array v = array({0.5, -1.0, 2.0, 0.25}, float64);
  const auto direct = [](const Array& x) { return log(cumsum(exp(x))); };
  const auto total = [](const auto& f) { return [f](const Array& x) { return sum(f(x) * f(x)); }; };
  const auto stable = [](const Array& x) { return cumlogsumexp(x); };
  EXPECT_TRUE(allclose(stable(v), direct(v), {.rtol = 1e-14}));
  EXPECT_TRUE(allclose(grad(total(stable))(v), grad(total(direct))(v), {.rtol = 1e-12}));
  EXPECT_TRUE(allclose(hessian(total(stable))(v), hessian(total(direct))(v), {.rtol = 1e-11}));
}

// As NumPy 2.4.6: the largest of nothing is 0 for a norm, the smallest is an error.
TEST(Norm, OfNothing) {
  const Array x = zeros({0, 3});
  const double inf = std::numeric_limits<double>::infinity();
  for (const double ord : {0.0, 1.0, 2.0, 3.0, inf}) {
    EXPECT_EQ(norm(x, 0, {.ord = ord}).to_vector<float>(), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(norm(ravel(x), {.ord = ord}).item<float>(), 0.0f);
    EXPECT_EQ(norm(x, 0, {.ord = ord, .keepdims = true}).shape(), (Shape{1, 3}));
  }
  EXPECT_EQ(norm(zeros({0}, float16), none, {.ord = inf}).dtype(), float16);
  EXPECT_EQ(norm(x, 1, {.ord = -inf}).shape(), (Shape{0}));
  try {
    norm(x, 0, {.ord = -inf});
    FAIL();
  } catch (const ShapeError& e) {
    EXPECT_EQ(std::string(e.what()).find("norm: f32[0,3] has no elements along axes [0]"), 0u)
        << e.what();
  }
}

}  // namespace reduce_ops_test
}  // namespace spruce
