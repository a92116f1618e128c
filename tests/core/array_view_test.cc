// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/array_view.h"

#include <gtest/gtest.h>

#include <numeric>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce {
namespace array_view_test {

using Numbers = std::vector<float>;

std::shared_ptr<Numbers> numbers(size_t n) {
  auto values = std::make_shared<Numbers>(n);
  std::iota(values->begin(), values->end(), 0.0f);
  return values;
}

Array view(const std::shared_ptr<Numbers>& owner, const Shape& shape) {
  return array_view(owner->data(), shape, owner);
}

TEST(ArrayView, TheElementsStayWhereTheyAre) {
  const auto owner = numbers(6);
  const int64_t before = memory::live_bytes();
  const Array x = view(owner, {2, 3});
  EXPECT_EQ(memory::live_bytes(), before);
  EXPECT_EQ(to_string(x.aval()), "f32[2,3]");
  EXPECT_EQ(x.data<float>().data(), owner->data());
  EXPECT_EQ(sum(x).item<float>(), 15.0f);
}

TEST(ArrayView, TheOwnerLivesAsLongAsWhatSharesTheMemory) {
  auto owner = numbers(6);
  const std::weak_ptr<Numbers> alive = owner;
  Array x = view(owner, {2, 3});
  owner.reset();
  auto rows = x.reshape({3, 2}).data<float>();
  x = Array();
  EXPECT_FALSE(alive.expired()) << "the span of a reshape is left";
  EXPECT_EQ(rows[5], 5.0f);
  rows = {};
  EXPECT_TRUE(alive.expired());
}

TEST(ArrayView, ACompiledFunctionKeepsWhatItCaptured) {
  auto owner = numbers(4);
  const std::weak_ptr<Numbers> alive = owner;
  {
    Array w = view(owner, {4});
    owner.reset();
    auto f = jit([w](const Array& x) { return sum(w * x); });
    w = Array();
    EXPECT_EQ(f(ones({4})).item<float>(), 6.0f);
    EXPECT_FALSE(alive.expired());
  }
  EXPECT_TRUE(alive.expired());
}

// Each of these would write to memory that nobody else holds.
TEST(ArrayView, NothingWritesToIt) {
  const auto owner = numbers(1000);
  const Numbers before = *owner;
  const auto fresh = [&] { return view(owner, {1000}); };
  EXPECT_EQ(fresh().at(0).set(7.0f).data<float>()[0], 7.0f);
  EXPECT_EQ(fresh().at(slice(0, 3)).add(1.0f).data<float>()[0], 1.0f);
  EXPECT_EQ((fresh() + 1.0f).data<float>()[0], 1.0f);
  EXPECT_EQ(exp(fresh().reshape({10, 100})).data<float>()[0], 1.0f);
  Array x = fresh();
  x += 2.0f;
  EXPECT_EQ(x.data<float>()[0], 2.0f);

  const auto step = jit([](const Array& a) { return 2.0f * a + 1.0f; });
  const Array donated = step(fresh());
  EXPECT_EQ(donated.data<float>()[0], 1.0f);
  EXPECT_NE(donated.data<float>().data(), owner->data());
  const auto same = jit([](const Array& a) { return std::pair{a, a * 2.0f}; })(fresh());
  EXPECT_EQ(same.first.data<float>().data(), owner->data()) << "what is passed on is shared";
  Array passed = same.first;
  passed += 1.0f;
  EXPECT_EQ(*owner, before);
}

TEST(ArrayView, MemoryNeedsNoMoreAlignmentThanItsElements) {
  const auto owner = numbers(1 + 37 * 19);
  const Array x = array_view(owner->data() + 1, {37, 19}, owner);
  const Array copy = array(std::span<const float>(owner->data() + 1, 37 * 19), {37, 19});
  const auto f = [](const Array& a) {
    return std::tuple{matmul(a, transpose(a)), nn::softmax(a), sum(exp(-a), 0), sort(a, 0)};
  };
  const auto same = [](const auto& a, const auto& b) {
    EXPECT_TRUE(array_equal(std::get<0>(a), std::get<0>(b)));
    EXPECT_TRUE(array_equal(std::get<1>(a), std::get<1>(b)));
    EXPECT_TRUE(array_equal(std::get<2>(a), std::get<2>(b)));
    EXPECT_TRUE(array_equal(std::get<3>(a), std::get<3>(b)));
  };
  same(f(x), f(copy));
  same(jit(f)(x), jit(f)(copy));
}

TEST(ArrayView, GradientsGoThroughIt) {
  const auto owner = numbers(3);
  const auto loss = [](const Array& x) { return sum(x * x); };
  EXPECT_EQ(grad(loss)(view(owner, {3})).to_vector<float>(), (Numbers{0, 2, 4}));
}

TEST(ArrayView, AVectorCanBeTakenOver) {
  Numbers values{1, 2, 3, 4};
  const float* memory = values.data();
  const Array x = array_view(std::move(values), {2, 2});
  EXPECT_EQ(x.data<float>().data(), memory);
  EXPECT_EQ(message([] {
              return array_view(Numbers{1, 2}, {3});
            }),
            "array_view: there are 2 elements, and the shape [3] has 3");
}

TEST(ArrayView, WhatIsNoArrayIsNamed) {
  static const double number = 0;
  static const uint8_t bytes[] = {0, 1, 2};
  EXPECT_EQ(message([] { return array_view<float>(nullptr, {2}, nullptr); }),
            "array_view: the pointer is null and the shape is that of f32[2]");
  EXPECT_EQ(array_view<float>(nullptr, {0, 3}, nullptr).size(), 0);
  EXPECT_EQ(message([] {
              const auto* odd = reinterpret_cast<const char*>(&number) + 2;
              return array_view(reinterpret_cast<const float*>(odd), {1}, nullptr);
            }),
            "array_view: the memory of f32[1] is not aligned to its elements of 4 bytes; copy it, "
            "as by array(std::span)");
  EXPECT_EQ(message([] { return array_view(reinterpret_cast<const bool*>(bytes), {3}, nullptr); }),
            "array_view: element 2 of bool[3] is 2, not 0 or 1");
  EXPECT_THROW(array_view(&number, {-1}, nullptr), ShapeError);
}

}  // namespace array_view_test
}  // namespace spruce
