// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/parallel.h"
#include "spruce/transforms/transforms.h"
#include "tests/core/message.h"

namespace spruce {
namespace sort_test {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Sort, EachDtype) {
  for (int d = 1; d < kDtypeCount; ++d) {
    const Dtype dtype = static_cast<Dtype>(d);
    SCOPED_TRACE(name(dtype));
    const bool negative = !is_unsigned_integer(dtype);
    const Array x = astype(
        negative ? array({3, -1, 0, 127, -128, -1, 5}) : array({3, 1, 0, 255, 128, 1, 5}), dtype);
    const Ints expected =
        negative ? Ints{-128, -1, -1, 0, 3, 5, 127} : Ints{0, 1, 1, 3, 5, 128, 255};
    EXPECT_EQ(astype(sort(x), int32).to_vector<int32_t>(), expected);
    EXPECT_EQ(argsort(x).to_vector<int32_t>(),
              (negative ? Ints{4, 1, 5, 2, 0, 6, 3} : Ints{2, 1, 5, 0, 6, 4, 3}));
  }
  EXPECT_EQ(sort(array({true, false, true})).to_vector<bool>(),
            (std::vector<bool>{false, true, true}));
  const int64_t low = std::numeric_limits<int64_t>::min(),
                high = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(sort(array({int64_t{0}, high, low, int64_t{-1}})).to_vector<int64_t>(),
            (std::vector<int64_t>{low, -1, 0, high}));
  const uint64_t top = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(sort(array({top, uint64_t{0}, top - 1})).to_vector<uint64_t>(),
            (std::vector<uint64_t>{0, top - 1, top}));
}

// As sort with `descending`: NaN first, what is equal in its order.
TEST(TopK, HasTheOrderOfSortInEveryDtype) {
  for (int d = 0; d < kDtypeCount; ++d) {
    const Dtype dtype = static_cast<Dtype>(d);
    SCOPED_TRACE(name(dtype));
    std::vector<double> numbers = {3, 0, 5, 5, 1, 0, 127, 2, 3, 1};
    if (!is_unsigned_integer(dtype) && dtype != bool_) numbers[4] = -100, numbers[7] = -1;
    if (is_floating(dtype)) {
      numbers[1] = -0.0;
      for (const double x : {double{kNan}, double{kInf}, -double{kNan}, -double{kInf}, 0.0})
        numbers.insert(numbers.begin() + 2, x);
    }
    const Array x = astype(array(numbers), dtype);
    const auto bits = [](const Array& a) {
      const char* data = static_cast<const char*>(internal::mutable_data(a));
      return std::string(data, static_cast<size_t>(a.nbytes()));
    };
    for (const int64_t k : {int64_t{1}, int64_t{4}, x.size()}) {
      const auto best = [&](const Array& a) { return top_k(a, k); };
      const Array order = argsort(x, 0, {.descending = true})[slice(0, k)];
      for (const auto& [values, places] : {best(x), jit(best)(x)}) {
        EXPECT_EQ(places.to_vector<int32_t>(), order.to_vector<int32_t>());
        EXPECT_EQ(bits(values), bits(take(x, order)));
      }
    }
    if (!is_floating(dtype)) continue;
    // A gradient goes to the elements that were taken, NaN too.
    const auto first = [](const Array& a) { return sum(top_k(a, 2).first); };
    std::vector<double> want(numbers.size(), 0);
    for (const int32_t i : argsort(x, 0, {.descending = true})[slice(0, 2)].to_vector<int32_t>())
      want[static_cast<size_t>(i)] = 1;
    EXPECT_EQ(astype(grad(first)(x), float64).to_vector<double>(), want);
    EXPECT_EQ(astype(jit(grad(first))(x), float64).to_vector<double>(), want);
  }
}

TEST(Sort, NanLastZerosEqual) {
  const Array x = array({kNan, 1.0f, -kInf, 0.0f, -kNan, kInf, -0.0f, -2.0f});
  EXPECT_EQ(argsort(x).to_vector<int32_t>(), (Ints{2, 7, 3, 6, 1, 5, 0, 4}));
  const Floats sorted = sort(x).to_vector<float>();
  EXPECT_FALSE(std::signbit(sorted[2]));
  EXPECT_TRUE(std::signbit(sorted[3]));
  EXPECT_TRUE(std::isnan(sorted[6]) && std::isnan(sorted[7]));
  EXPECT_EQ(argsort(x, -1, {.descending = true}).to_vector<int32_t>(),
            (Ints{0, 4, 5, 1, 3, 6, 7, 2}));
  EXPECT_EQ(argsort(astype(x, float64)).to_vector<int32_t>(), (Ints{2, 7, 3, 6, 1, 5, 0, 4}));
  EXPECT_EQ(argsort(astype(x, bfloat16)).to_vector<int32_t>(), (Ints{2, 7, 3, 6, 1, 5, 0, 4}));
}

TEST(Sort, AxesAndSizes) {
  const Array x = array({3, 1, 2, 9, 7, 8, 6, 5, 4, 0, 0, 1}, {2, 3, 2});
  EXPECT_EQ(sort(x, 0).to_vector<int32_t>(), (Ints{3, 1, 2, 0, 0, 1, 6, 5, 4, 9, 7, 8}));
  EXPECT_EQ(sort(x, 1).to_vector<int32_t>(), (Ints{2, 1, 3, 8, 7, 9, 0, 0, 4, 1, 6, 5}));
  EXPECT_EQ(sort(x).to_vector<int32_t>(), (Ints{1, 3, 2, 9, 7, 8, 5, 6, 0, 4, 0, 1}));
  EXPECT_EQ(sort(x, none).to_vector<int32_t>(), (Ints{0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(sort(zeros({0})).shape(), (Shape{0}));
  EXPECT_EQ(sort(zeros({3, 0}), 0).shape(), (Shape{3, 0}));
  EXPECT_EQ(argsort(zeros({0, 3}), 1).shape(), (Shape{0, 3}));
  EXPECT_EQ(sort(array(3.0f), none).to_vector<float>(), (Floats{3}));
  EXPECT_THROW((void)sort(array(3.0f)), ShapeError);
  EXPECT_THROW((void)sort(x, 3), ShapeError);
  EXPECT_EQ(message([&] { return sort(x, {0, 1}); }), "sort: takes one axis, got [0,1]");
}

// All ways of ordering rows, against std::stable_sort, with many equal keys.
TEST(Sort, LongRowsAreStable) {
  std::mt19937 rng(1);
  for (const int n : {2, 47, 48, 49, 500, 40000, 1 << 18}) {
    for (const int distinct : {3, 1000000}) {
      std::vector<int32_t> keys(static_cast<size_t>(n));
      for (int32_t& k : keys)
        k = static_cast<int32_t>(rng() % static_cast<unsigned>(distinct)) - distinct / 2;
      Ints order(keys.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int32_t a, int32_t b) { return keys[size_t(a)] < keys[size_t(b)]; });
      const Array x = array(keys);
      EXPECT_EQ(argsort(x).to_vector<int32_t>(), order);
      EXPECT_EQ(argsort(astype(x, float64)).to_vector<int32_t>(), order);
      EXPECT_EQ(argsort(astype(x, float32)).to_vector<int32_t>(), order);
      std::sort(keys.begin(), keys.end());
      EXPECT_EQ(sort(x).to_vector<int32_t>(), keys);
    }
  }
}

TEST(Sort, DoesNotDependOnThreads) {
  std::mt19937 rng(2);
  Floats values(300 * 200);
  for (float& v : values) v = static_cast<float>(rng() % 50);
  const Array x = array(values, {300, 200});
  const int before = threads();
  set_threads(1);
  const Ints one = argsort(x, 0).to_vector<int32_t>();
  set_threads(4);
  EXPECT_EQ(argsort(x, 0).to_vector<int32_t>(), one);
  set_threads(before);
}

TEST(Sort, LexsortLastKeyFirst) {
  const Array minor = array({9, 4, 0, 4, 0, 2, 1}), major = array({1, 5, 1, 4, 3, 4, 4});
  EXPECT_EQ(lexsort({minor, major}).to_vector<int32_t>(), (Ints{2, 0, 4, 6, 5, 3, 1}));
  EXPECT_EQ(message([&] { return lexsort({}); }),
            "lexsort: there are no keys; give at least one array");
  EXPECT_EQ(message([&] {
              return lexsort({minor, zeros({2})});
            }),
            "lexsort: the keys i32[7] and f32[2] differ in shape; broadcast one to the other with "
            "broadcast_to");
}

TEST(Sort, Derivatives) {
  const Array x = array({3.0, 1.0, 2.0, -4.0, 7.0, 0.5}, {2, 3}, float64);
  const Array w = array({1.0, 10.0, 100.0}, float64);
  EXPECT_TRUE(allclose(grad([&](const Array& x) { return sum(sort(x) * w); })(x),
                       array({100.0, 1.0, 10.0, 1.0, 100.0, 10.0}, {2, 3}, float64)));
  EXPECT_TRUE(
      allclose(grad([&](const Array& x) { return sum(sort(x, -1, {.descending = true}) * w); })(x),
               array({1.0, 100.0, 10.0, 100.0, 1.0, 10.0}, {2, 3}, float64)));
  EXPECT_TRUE(allclose(grad([&](const Array& x) {
                         return sum(top_k(x, 2).first * array({1.0, 10.0}, float64));
                       })(x),
                       array({1.0, 0.0, 10.0, 0.0, 1.0, 10.0}, {2, 3}, float64)));
  const auto cubes = [](const Array& x) {
    const Array s = sort(x[0]);
    return sum(s * s * s * array({1.0, 2.0, 3.0}, float64));
  };
  EXPECT_TRUE(allclose(hessian(cubes)(x)[{0, slice(), 0, slice()}],
                       array({54.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 24.0}, {3, 3}, float64)));
}

TEST(Sort, UnderVmap) {
  const Array x = array({3.0f, 1.0f, 2.0f, -4.0f, 7.0f, 0.5f}, {2, 3});
  EXPECT_TRUE(array_equal(vmap([](const Array& r) { return sort(r); })(x), sort(x)));
  EXPECT_TRUE(
      array_equal(vmap([](const Array& r) { return argsort(r); }, {.in_axes = 1, .out_axes = 1})(x),
                  argsort(x, 0)));
  EXPECT_TRUE(
      array_equal(vmap([](const Array& r) { return top_k(r, 2).second; })(x), top_k(x, 2).second));
  const Array rows = sort(x), q = array({0.0f, 2.5f});
  const Array each = vmap([&](const Array& r) { return searchsorted(r, q); })(rows);
  EXPECT_EQ(each.to_vector<int32_t>(), (Ints{0, 2, 1, 2}));
  const Array all = vmap([&](const Array& r, const Array& v) { return searchsorted(r, v); })(
      rows, array({2.5f, 0.5f}));
  EXPECT_EQ(all.to_vector<int32_t>(), (Ints{2, 1}));
  const Array queries =
      vmap([&](const Array& v) { return searchsorted(rows[0], v); })(array({2.5f, 0.5f, 9.0f}));
  EXPECT_EQ(queries.to_vector<int32_t>(), (Ints{2, 0, 3}));
}

TEST(TopK, ValuesAndPlaces) {
  const Array x = array({1.0f, 5.0f, kNan, 5.0f, -kInf, 2.0f});
  const auto [values, places] = top_k(x, 4);
  EXPECT_EQ(places.to_vector<int32_t>(), (Ints{2, 1, 3, 5}));
  EXPECT_TRUE(std::isnan(values.to_vector<float>()[0]));
  EXPECT_EQ(values[slice(1, none)].to_vector<float>(), (Floats{5, 5, 2}));
  const Array y = array({3, 1, 2, 9, 7, 8}, {2, 3});
  EXPECT_EQ(top_k(y, 3).first.to_vector<int32_t>(), (Ints{3, 2, 1, 9, 8, 7}));
  EXPECT_EQ(top_k(y, 0).first.shape(), (Shape{2, 0}));
  EXPECT_EQ(
      message([&] { return top_k(y, 4).first; }),
      "top_k: k is 4, but the last axis of i32[2,3] has 3 entries; k must be between 0 and that");
  EXPECT_THROW((void)top_k(y, -1), ValueError);
  EXPECT_THROW((void)top_k(array(1), 1), ShapeError);
}

TEST(SearchSorted, Sides) {
  const Array x = array({-1.0f, 0.0f, 0.0f, 2.0f, kNan});
  const Array q = array({0.0f, -5.0f, 2.0f, 9.0f, -0.0f, kNan}, {2, 3});
  EXPECT_EQ(searchsorted(x, q).to_vector<int32_t>(), (Ints{1, 0, 3, 4, 1, 4}));
  EXPECT_EQ(searchsorted(x, q, {.right = true}).to_vector<int32_t>(), (Ints{3, 0, 4, 4, 3, 5}));
  EXPECT_EQ(searchsorted(x, q).shape(), (Shape{2, 3}));
  EXPECT_EQ(searchsorted(zeros({0}), q).to_vector<int32_t>(), (Ints{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(searchsorted(array({1, 3, 5}), 2.5f).item<int>(), 1) << "both are promoted";
  EXPECT_EQ(message([&] {
              return searchsorted(ones({2, 2}), 1.0f);
            }),
            "searchsorted: the sorted array must have rank 1, got f32[2,2]; map over the others "
            "with vmap");
}

TEST(SearchSorted, ManyQueriesOfEveryDtypeInRowsOfEveryLength) {
  for (const Dtype d :
       {bool_, int8, int64, uint8, uint32, uint64, float16, bfloat16, float32, float64}) {
    for (const int64_t n : {1, 2, 3, 7, 8, 9, 64, 100}) {
      // Twice each, of both signs where there are some.
      const Array x = sort(astype(arange(n) / 2 - (is_signed_integer(d) ? 20 : 0), d));
      const Array q = astype(remainder(arange(131) * 37, 70) - (is_signed_integer(d) ? 25 : 0), d);
      const std::vector<double> row = astype(x, float64).to_vector<double>(),
                                queries = astype(q, float64).to_vector<double>();
      Ints left, right;
      for (const double v : queries) {
        left.push_back(
            static_cast<int32_t>(std::lower_bound(row.begin(), row.end(), v) - row.begin()));
        right.push_back(
            static_cast<int32_t>(std::upper_bound(row.begin(), row.end(), v) - row.begin()));
      }
      EXPECT_EQ(searchsorted(x, q).to_vector<int32_t>(), left) << name(d) << n;
      EXPECT_EQ(searchsorted(x, q, {.right = true}).to_vector<int32_t>(), right) << name(d) << n;
    }
  }
}

TEST(Unique, Elements) {
  EXPECT_EQ(unique(array({3, 1, 3, 2, 1}, {5})).to_vector<int32_t>(), (Ints{1, 2, 3}));
  EXPECT_EQ(unique(zeros({0, 2})).shape(), (Shape{0}));
  EXPECT_EQ(unique(array({kNan, 1.0f, kNan})).size(), 2);
  EXPECT_THROW(jit([](const Array& x) { return unique(x); })(zeros({2})), TracerError);
  EXPECT_THROW((void)unique(Array()), ValueError);
}

TEST(Take, Axes) {
  const Array x = array({0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_EQ(take(x, array({1, 1, 0}), 0).to_vector<int32_t>(), (Ints{3, 4, 5, 3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(take(x, array({-1, 0}), 1).to_vector<int32_t>(), (Ints{2, 0, 5, 3}));
  EXPECT_EQ(take(x, 4).item<int>(), 4);
  EXPECT_EQ(take(x, zeros({2, 0}, int32), 1).shape(), (Shape{2, 2, 0}));
  EXPECT_EQ(take(x, array({{0, 1}, {1, 0}}), -1).shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(message([&] {
              return take(x, array({0, 2}), 0);
            }),
            "take: index 2 is out of range for axis 0 of i32[2,3], which has size 2; use indices "
            "from -2 to 1");
  EXPECT_EQ(message([&] { return take(x, zeros({2}), 0); }),
            "take: indices must be integers, got f32[2]; convert them with astype");
  EXPECT_EQ(message([&] { return take(x, array({true}), 0); }),
            "take: indices must be integers, got bool[1]; convert them with astype, or index with "
            "the mask by x[mask]");
}

TEST(Take, AlongAxis) {
  const Array x = array({0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_EQ(take_along_axis(x, array({{2, 0}, {1, -1}}), 1).to_vector<int32_t>(),
            (Ints{2, 0, 4, 5}));
  EXPECT_EQ(take_along_axis(x, array({{1, 0, 1}}), 0).to_vector<int32_t>(), (Ints{3, 1, 5}));
  EXPECT_EQ(take_along_axis(x, array({{1}, {0}, {1}}), 0).shape(), (Shape{3, 3}));
  EXPECT_EQ(take_along_axis(x, array({5, 0}), none).to_vector<int32_t>(), (Ints{5, 0}));
  EXPECT_EQ(take_along_axis(x, argsort(-x), 1).to_vector<int32_t>(), (Ints{2, 1, 0, 5, 4, 3}));
  EXPECT_THROW((void)take_along_axis(x, array({0, 1}), 1), ShapeError);
  EXPECT_THROW((void)take_along_axis(x, array({{0, 1}, {0, 3}}), 1), IndexError);
  EXPECT_EQ(put_along_axis(x, array({{2}, {0}}), 9, 1).to_vector<int32_t>(),
            (Ints{0, 1, 9, 9, 4, 5}));
  EXPECT_EQ(put_along_axis(x, array({5, 0}), array({7, 8}), none).to_vector<int32_t>(),
            (Ints{8, 1, 2, 3, 4, 7}));
  EXPECT_THROW((void)put_along_axis(x, array({{2}, {0}}), 1.5f, 1), DtypeError);
  EXPECT_THROW((void)put_along_axis(ones({1, 3}), array({{2}, {0}}), 1.5f, 1), ShapeError);
  const auto f = [](const Array& x) {
    return sum(take_along_axis(x, array({{2, 0}, {1, 1}}), 1) * array({1.0f, 10.0f}));
  };
  EXPECT_EQ(grad(f)(zeros({2, 3})).to_vector<float>(), (Floats{10, 0, 1, 0, 11, 0}));
}

TEST(Take, ChooseOneHotBincount) {
  EXPECT_EQ(choose(array({1, 0, -1}), {10, array({1, 2, 3}), 20}).to_vector<int32_t>(),
            (Ints{1, 10, 20}));
  EXPECT_EQ(one_hot(array({1, -1, 3, 0}), 3, int32).to_vector<int32_t>(),
            (Ints{0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(one_hot(zeros({2, 0}, int8), 300).shape(), (Shape{2, 0, 300}));
  EXPECT_EQ(sum(one_hot(astype(array({44}), int8), 300)).item<float>(), 1.0f);
  EXPECT_EQ(bincount(array({1, 5, 1, -1, 0}), 3).to_vector<int32_t>(), (Ints{1, 2, 0}));
  EXPECT_EQ(bincount(array({1, 0, 1}), 2, array({0.5f, 1.0f, 2.0f})).to_vector<float>(),
            (Floats{1, 2.5f}));
  EXPECT_THROW((void)bincount(array({0.5f}), 2), DtypeError);
  EXPECT_THROW((void)one_hot(array({0.5f}), 2), DtypeError);
  EXPECT_THROW((void)one_hot(array({0}), -2), ValueError);
}

TEST(Nonzero, Places) {
  const Array x = array({0.0f, 2.0f, 0.0f, kNan, -1.0f, 0.0f}, {2, 3});
  const std::vector<Array> places = nonzero(x);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].to_vector<int32_t>(), (Ints{0, 1, 1}));
  EXPECT_EQ(places[1].to_vector<int32_t>(), (Ints{1, 0, 1}));
  EXPECT_EQ(where(x > 0.0f)[1].to_vector<int32_t>(), (Ints{1}));
  EXPECT_EQ(argwhere(x).to_vector<int32_t>(), (Ints{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(argwhere(zeros({0, 2})).shape(), (Shape{0, 2}));
  EXPECT_EQ(argwhere(array(5)).shape(), (Shape{1, 0}));
  EXPECT_EQ(nonzero(array(0))[0].shape(), (Shape{0}));
  const std::string traced =
      message([&] { return jit([](const Array& x) { return argwhere(x); })(x); });
  EXPECT_NE(traced.find("use where(condition, a, b)"), std::string::npos) << traced;
}

TEST(TopK, AlongAnyAxis) {
  const Array x = array({{3.0f, 9.0f, 1.0f}, {7.0f, 2.0f, 8.0f}});
  const auto [y, i] = top_k(x, 1, 0);
  EXPECT_EQ(y.shape(), (Shape{1, 3}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{7, 9, 8}));
  EXPECT_EQ(i.to_vector<int32_t>(), (Ints{1, 0, 1}));
  EXPECT_TRUE(array_equal(take_along_axis(x, i, 0), y));
  const Array z = reshape(arange(24.0f), {2, 3, 4});
  EXPECT_TRUE(array_equal(top_k(z, 2, 1).first, swapaxes(top_k(swapaxes(z, 1, 2), 2).first, 1, 2)));
  EXPECT_TRUE(array_equal(top_k(z, 2, -1).first, top_k(z, 2).first));
  EXPECT_EQ(top_k(z, 2, none).second.to_vector<int32_t>(), (Ints{23, 22}));
  EXPECT_THROW(top_k(z, 2, 3), ShapeError);
  EXPECT_THROW(top_k(z, 2, {0, 1}), ShapeError);
  EXPECT_THROW(top_k(z, 3, 0), ValueError);
  EXPECT_EQ(grad([](const Array& x) { return sum(top_k(x, 1, 0).first); })(x).to_vector<float>(),
            (Floats{0, 1, 0, 1, 0, 1}));
}

}  // namespace sort_test
}  // namespace spruce
