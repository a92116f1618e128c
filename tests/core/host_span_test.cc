// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/host_span.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <ranges>
#include <type_traits>

#include "spruce/spruce.h"

namespace sp = spruce;
using sp::Array;
using sp::HostSpan;

static_assert(std::ranges::contiguous_range<HostSpan<float>>);
static_assert(std::ranges::sized_range<HostSpan<float>>);
static_assert(std::ranges::view<HostSpan<float>>);
static_assert(!std::ranges::borrowed_range<HostSpan<float>>, "its iterators keep no memory");
static_assert(std::is_same_v<std::ranges::range_reference_t<HostSpan<float>>, const float&>);
static_assert(std::is_nothrow_move_constructible_v<HostSpan<float>>);
static_assert(
    std::is_same_v<decltype(std::span(std::declval<HostSpan<float>&>())), std::span<const float>>);

namespace host_span_test {

// Writes ones over the array where it may.
template <class Update>
void expect_kept(const Update& update) {
  Array x = sp::zeros({1000});
  const float* memory = x.data<float>().data();
  {
    const auto seen = x.data<float>();
    x = update(std::move(x));
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 0.0f), 1000);
    EXPECT_EQ(x.data<float>()[0], 1.0f);
    EXPECT_NE(x.data<float>().data(), memory);
  }
  memory = x.data<float>().data();
  x = update(std::move(x));
  EXPECT_EQ(x.data<float>().data(), memory) << "no span is left, so the memory is used again";
}

template <class T>
size_t count_of(std::span<const T> elements) {
  return elements.size();
}
size_t count_floats(std::span<const float> elements) { return elements.size(); }

TEST(HostSpan, ShowsTheSameElementsAfterAnUpdateInPlace) {
  expect_kept([](Array x) { return std::move(x).at(0).set(1.0f); });
  expect_kept([](Array x) { return std::move(x).at(0).max(1.0f); });
  expect_kept([](Array x) {
    return sp::dynamic_update_slice(std::move(x), sp::ones({10}), {sp::array(0)});
  });
}

TEST(HostSpan, ShowsTheSameElementsAfterAnOperationThatTakesATemporary) {
  expect_kept([](Array x) { return sp::exp(std::move(x) * 0.0f); });
  expect_kept([](Array x) { return sp::cos(std::move(x) * 0.0f); });
}

TEST(HostSpan, ShowsTheSameElementsAfterACompiledFunctionWasGivenTheMemory) {
  const auto f = sp::jit([](const Array& x) { return sp::exp(x * 0.0f); });
  expect_kept([&](Array x) { return f(std::move(x)); });
}

TEST(HostSpan, OfAViewKeepsTheMemoryOfTheArray) {
  Array x = sp::zeros({4});
  const auto seen = x.reshape({2, 2}).data<float>();
  x = std::move(x).at(0).set(1.0f);
  EXPECT_EQ(seen[0], 0.0f);
}

TEST(HostSpan, KeepsTheMemoryOfATemporary) {
  const auto seen = (sp::arange(3.0f) + 1.0f).data<float>();
  const Array other = sp::zeros({3});  // would be where the temporary was
  EXPECT_EQ(std::vector<float>(seen.begin(), seen.end()), (std::vector<float>{1, 2, 3}));
  float sum = 0;
  for (const float v : (sp::arange(3.0f) + 1.0f).data<float>()) sum += v;
  EXPECT_EQ(sum, 6.0f);
}

TEST(HostSpan, PartsKeepTheMemory) {
  auto all = sp::arange(6).data<int32_t>();
  const auto part = all.subspan(1).last(4).first(2);
  all = {};
  const Array other = sp::zeros({6}, sp::int32);
  EXPECT_EQ(std::vector<int32_t>(part.begin(), part.end()), (std::vector<int32_t>{2, 3}));
  EXPECT_TRUE(all.empty());
}

TEST(HostSpan, IsEmptyAfterItWasMovedFrom) {
  auto a = sp::ones({2}).data<float>();
  const auto b = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(b.size(), 2U);
}

TEST(HostSpan, GoesWhereAStdSpanGoes) {
  const Array x = sp::arange(3.0f);
  const auto seen = x.data<float>();
  const std::span<const float> converted = x.data<float>();
  EXPECT_EQ(converted.data(), seen.data());
  EXPECT_EQ(count_floats(x.data<float>()) + count_of(seen), 6U);
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0.0f), 3.0f);
  EXPECT_EQ(*std::ranges::max_element(seen), 2.0f);
  EXPECT_TRUE(sp::array_equal(sp::array(seen, {3}), x));
  EXPECT_EQ(std::as_bytes(seen).size(), 12U);
}

TEST(HostSpan, IsMadeOfACopyOnTheHost) {
  auto copy = sp::internal::Buffer::allocate(2 * sizeof(float), sp::cpu_device());
  const float values[] = {3, 4};
  std::memcpy(copy->data(), values, sizeof values);
  const HostSpan<float> seen(std::move(copy), 2);
  EXPECT_EQ(seen[1], 4.0f);
}

}  // namespace host_span_test
