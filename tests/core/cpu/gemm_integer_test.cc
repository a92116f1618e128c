// SPDX-License-Identifier: Apache-2.0
// Products of integers of random sizes and strides wrap as sums of products do, and nothing beyond
// the result is written.
#include "spruce/core/cpu/gemm/gemm_integer.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/parallel.h"

namespace spruce {
namespace gemm_integer_test {

template <class T>
T random_value(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, bool>)
    return random() % 4 == 0;
  else
    return static_cast<T>(random());
}

// Elements in a row, for vector<bool> is none.
template <class T>
class Elements {
 public:
  Elements(size_t n, std::mt19937_64& random) : n_(n), data_(new T[n + 1]) {
    for (size_t i = 0; i < n; ++i) data_[i] = random_value<T>(random);
  }
  T* data() { return data_.get(); }
  T& operator[](int64_t i) { return data_[static_cast<size_t>(i)]; }
  int64_t size() const { return static_cast<int64_t>(n_); }

 private:
  size_t n_;
  std::unique_ptr<T[]> data_;
};

template <class T>
T sum_of_products(cpu::Gemm& g, Elements<T>& a, Elements<T>& b, T start, int64_t i, int64_t j) {
  if constexpr (std::is_same_v<T, bool>) {
    bool any = start;
    for (int64_t p = 0; p < g.k; ++p)
      any = any || (a[i * g.a_row + p * g.a_col] && b[p * g.b_row + j * g.b_col]);
    return any;
  } else {
    auto sum = static_cast<uint64_t>(start);
    for (int64_t p = 0; p < g.k; ++p)
      sum += static_cast<uint64_t>(a[i * g.a_row + p * g.a_col]) *
             static_cast<uint64_t>(b[p * g.b_row + j * g.b_col]);
    return static_cast<T>(sum);
  }
}

template <class T>
class GemmInteger : public testing::Test {
 public:
  void check(int64_t m, int64_t n, int64_t k) {
    cpu::Gemm g;
    g.m = m, g.n = n, g.k = k;
    const int64_t gap = draw(0, 1) * draw(1, 3);
    const bool a_turned = draw(0, 1) == 1, b_turned = draw(0, 1) == 1;
    g.a_row = a_turned ? 1 : k + gap, g.a_col = a_turned ? m + gap : 1;
    g.b_row = b_turned ? 1 : n + gap, g.b_col = b_turned ? k + gap : 1;
    g.c_row = n + gap;
    g.accumulate = draw(0, 1) == 1;
    Elements<T> a(static_cast<size_t>((m + gap) * (k + gap)), random_),
        b(static_cast<size_t>((n + gap) * (k + gap)), random_),
        c(static_cast<size_t>(m * (n + gap)), random_);
    std::vector<T> want(c.data(), c.data() + c.size());
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const int64_t at = i * g.c_row + j;
        want[static_cast<size_t>(at)] =
            sum_of_products<T>(g, a, b, g.accumulate ? c[at] : T{}, i, j);
      }
    }
    g.a = a.data(), g.b = b.data(), g.c = c.data();
    cpu::gemm(dtype_of<T>(), g);
    for (int64_t i = 0; i < c.size(); ++i)
      ASSERT_EQ(c[i], want[static_cast<size_t>(i)])
          << m << " x " << n << " x " << k << " at " << i / g.c_row << ", " << i % g.c_row;
  }
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

 private:
  std::mt19937_64 random_{7};
};
using Integers =
    testing::Types<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(GemmInteger, Integers);

TYPED_TEST(GemmInteger, SmallOfAllSizes) {
  for (int i = 0; i < 200; ++i)
    this->check(this->draw(1, 20), this->draw(1, 70), this->draw(0, 40));
}

TYPED_TEST(GemmInteger, BlocksAndTheirRests) {
  this->check(257, 33, 9);
  this->check(3, 300, 513);
  this->check(70, 65, 300);
  this->check(9, 1, 700);
  this->check(1, 260, 31);
}

TYPED_TEST(GemmInteger, OnSeveralThreads) {
  const int before = threads();
  set_threads(3);
  this->check(300, 150, 90);
  this->check(5000, 1, 600);
  set_threads(before);
}

TEST(GemmIntegers, WrapAtTheEndsOfTheirRange) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> a(40 * 40, kLow), b(40 * 40, -1);
  std::vector<int64_t> c(40 * 40);
  cpu::Gemm g;
  g.m = g.n = g.k = g.a_row = g.b_row = g.c_row = 40;
  g.a = a.data(), g.b = b.data(), g.c = c.data();
  cpu::gemm(Dtype::kInt64, g);
  EXPECT_EQ(c, std::vector<int64_t>(40 * 40, 0)) << "an even number of halves of the range";
}

}  // namespace gemm_integer_test
}  // namespace spruce
