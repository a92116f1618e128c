// SPDX-License-Identifier: Apache-2.0
// Rows of 16-bit floats: conversions have the bits of those of one element, and operations are
// those of floats, rounded once, wherever an element stands in its row.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "spruce/core/cpu/elementwise/half.h"

namespace spruce {
namespace half_loops_test {

template <class T>
std::vector<T> all_values() {
  std::vector<T> x(65536);
  for (uint32_t i = 0; i < 65536; ++i) x[i].bits = static_cast<uint16_t>(i);
  return x;
}

// Floats that are halves, between two of them, and next to either.
template <class T>
std::vector<float> around_halves() {
  constexpr uint32_t kUnit = std::is_same_v<T, Bfloat16> ? 1u << 16 : 1u << 13;
  std::vector<float> x;
  for (const T h : all_values<T>()) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(h));
    for (const uint32_t to : {0u, kUnit / 2})
      for (const uint32_t by : {~0u, 0u, 1u}) x.push_back(std::bit_cast<float>(bits + to + by));
  }
  // Subnormal results of f16 are rounded at other places.
  for (uint32_t bits = 0x33000000u; bits < 0x39000000u; bits += 1u << 10) {
    for (const uint32_t by : {~0u, 0u, 1u}) x.push_back(std::bit_cast<float>(bits + by));
  }
  return x;
}

template <class T>
class HalfLoops : public testing::Test {
 public:
  static Array of(const std::vector<T>& x) {
    return reshape(array(x), {static_cast<int64_t>(x.size())});
  }
};
using Halves = testing::Types<Float16, Bfloat16>;
TYPED_TEST_SUITE(HalfLoops, Halves);

TYPED_TEST(HalfLoops, NarrowAsOneElementDoes) {
  const std::vector<float> x = around_halves<TypeParam>();
  std::vector<TypeParam> y(x.size());
  cpu::narrow(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i].bits, TypeParam(x[i]).bits) << std::bit_cast<uint32_t>(x[i]);
}

TYPED_TEST(HalfLoops, WidenExactly) {
  const std::vector<TypeParam> x = all_values<TypeParam>();
  std::vector<float> y(x.size());
  cpu::widen(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto f = static_cast<float>(x[i]);
    if (std::isnan(f))
      ASSERT_TRUE(std::isnan(y[i])) << i;
    else
      ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(f)) << i;
  }
}

TYPED_TEST(HalfLoops, ConvertRowsOfAnyLengthFromAnyPlaceAndNoMore) {
  const std::vector<float> wide = around_halves<TypeParam>();
  const std::vector<TypeParam> narrow = all_values<TypeParam>();
  TypeParam mark;
  mark.bits = 0x1234;
  for (size_t n = 0; n < 50; ++n) {
    const size_t from = 100 + 600 * n;  // numbers
    std::vector<TypeParam> y(n + 2, mark);
    cpu::narrow(wide.data() + from, y.data() + 1, static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(y[i + 1].bits, TypeParam(wide[from + i]).bits) << n;
    EXPECT_EQ(y[0].bits, mark.bits);
    EXPECT_EQ(y[n + 1].bits, mark.bits) << n;
    std::vector<float> z(n + 2, 7.0f);
    cpu::widen(narrow.data() + from, z.data() + 1, static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(z[i + 1], static_cast<float>(narrow[from + i])) << n;
    EXPECT_EQ(z[0], 7.0f);
    EXPECT_EQ(z[n + 1], 7.0f) << n;
  }
}

template <class T>
void expect_rounded(const Array& y, const std::vector<float>& exact, const std::string& what) {
  const std::vector<T> got = y.template to_vector<T>();
  ASSERT_EQ(got.size(), exact.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const T want(exact[i]);
    if (std::isnan(exact[i]))
      ASSERT_TRUE(std::isnan(static_cast<float>(got[i]))) << what << " at " << i;
    else
      ASSERT_EQ(got[i].bits, want.bits) << what << " at " << i;
  }
}

TYPED_TEST(HalfLoops, OperationsAreThoseOfFloatsRoundedOnce) {
  const std::vector<TypeParam> all = all_values<TypeParam>();
  // The pieces of rows of 65521 begin at other places than those of the whole.
  for (const size_t n : {size_t{1}, size_t{15}, size_t{1024}, size_t{1025}, size_t{65521}}) {
    const std::vector<TypeParam> x(all.end() - static_cast<int64_t>(n), all.end());
    std::vector<TypeParam> y(x.rbegin(), x.rend());
    const TypeParam s(0.3f);
    std::vector<float> sum, twice, ratio, inverse, negative, root;
    std::vector<bool> less;
    for (size_t i = 0; i < n; ++i) {
      const auto a = static_cast<float>(x[i]), b = static_cast<float>(y[i]);
      sum.push_back(a + b);
      twice.push_back(a * a);
      ratio.push_back(a / static_cast<float>(s));
      inverse.push_back(static_cast<float>(s) / a);
      negative.push_back(-a);
      root.push_back(std::sqrt(a));
      less.push_back(a < b);
    }
    const Array ax = this->of(x), ay = this->of(y), as = this->of({s});
    expect_rounded<TypeParam>(ax + ay, sum, "add");
    expect_rounded<TypeParam>(ax * ax, twice, "mul");
    expect_rounded<TypeParam>(ax / as, ratio, "div by one");
    expect_rounded<TypeParam>(as / ax, inverse, "div of one");
    expect_rounded<TypeParam>(-ax, negative, "neg");
    expect_rounded<TypeParam>(sqrt(ax), root, "sqrt");
    EXPECT_EQ((ax < ay).template to_vector<bool>(), less);
  }
}

TYPED_TEST(HalfLoops, RowsAndColumnsBroadcast) {
  const TypeParam column[] = {TypeParam(1.0f), TypeParam(-3.0f)};
  std::vector<TypeParam> row;
  for (int i = 0; i < 1500; ++i) row.push_back(TypeParam(0.01f * static_cast<float>(i)));
  std::vector<float> sums, outer;
  for (const TypeParam c : column) {
    for (const TypeParam r : row) {
      sums.push_back(static_cast<float>(c) - static_cast<float>(r));
      outer.push_back(static_cast<float>(c) + static_cast<float>(c));
    }
  }
  const Array c = reshape(this->of({column[0], column[1]}), {2, 1}), r = this->of(row);
  expect_rounded<TypeParam>(c - r, sums, "sub");
  const Array repeated = broadcast_to(c, {2, 1500});
  expect_rounded<TypeParam>(repeated + c, outer, "add");
  const std::vector<bool> less = (c < r).template to_vector<bool>();
  for (size_t i = 0; i < 3000; ++i)
    ASSERT_EQ(less[i], static_cast<float>(column[i / 1500]) < static_cast<float>(row[i % 1500]));
}

}  // namespace half_loops_test
}  // namespace spruce
