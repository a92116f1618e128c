// SPDX-License-Identifier: Apache-2.0
// Eager loops are made ready once: what is kept, for which calls, and what is not.
#include "spruce/transforms/control/body/kernel_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "spruce/core/array_view.h"
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/control/loops/scan_rules.h"
#include "spruce/transforms/rules/control_primitives.h"
#include "spruce/transforms/transforms.h"

namespace spruce::internal {
namespace kernel_cache_test {

int prepared = 0;

std::unique_ptr<const PreparedKernel> counting(const PrepareArgs& args) {
  ++prepared;
  return prepare_scan(args);
}

Params loop(const std::string& power, int64_t length) {
  const std::string body =
      "graph(a: f32[3]) {\nb: f32[3] = integer_pow[n=" + power + "] a\nreturn b\n}";
  ScanParams p;
  p.length = length;
  p.carry = 1;
  p.body = std::make_shared<const Graph>(parse_graph(body));
  return Params::make(p);
}

TEST(KernelCache, EqualLoopsAreMadeReadyOnce) {
  const Array x = ones({3});
  prepared = 0;
  const auto first = ready_kernel(scan_p, loop("2", 7), {&x, 1}, counting);
  EXPECT_EQ(ready_kernel(scan_p, loop("2", 7), {&x, 1}, counting), first);
  EXPECT_EQ(prepared, 1);
  EXPECT_NE(ready_kernel(scan_p, loop("3", 7), {&x, 1}, counting), first);
  EXPECT_NE(ready_kernel(scan_p, loop("2", 8), {&x, 1}, counting), first);
  EXPECT_EQ(prepared, 3);
  EXPECT_EQ(ready_kernel(scan_p, loop("2", 7), {&x, 1}, counting), first);
}

TEST(KernelCache, OnlyTheLastFewAreKept) {
  const Array x = ones({3});
  const std::weak_ptr<const ReadyKernel> first =
      ready_kernel(scan_p, loop("5", 2), {&x, 1}, counting);
  EXPECT_FALSE(first.expired());
  for (int i = 0; i < 64; ++i) ready_kernel(scan_p, loop("5", 100 + i), {&x, 1}, counting);
  EXPECT_TRUE(first.expired());
}

TEST(KernelCache, NumbersThatABodyCapturesArePartOfIt) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i <= 4; ++i) {
      const Array by = array(static_cast<float>(i));
      const Array y = fori_loop(
          0, 3, [&](const Array&, const Array& c) { return c * by; }, ones({2}));
      EXPECT_TRUE(array_equal(y, full({2}, static_cast<float>(i * i * i))));
    }
  }
}

TEST(KernelCache, FunctionsOfTheUserAreNotKept) {
  const auto captured = std::make_shared<int>(0);
  const auto count = [captured](const Array& x) {
    ++*captured;
    return x;
  };
  const Array y = fori_loop(
      0, 3, [&](const Array&, const Array& c) { return host_call(count, c, c) + 1.0; },
      array(0.0f));
  EXPECT_EQ(y.item<float>(), 3);
  EXPECT_EQ(*captured, 3);
  EXPECT_EQ(captured.use_count(), 2);  // here and in `count`
}

// Memory that the program lends changes or goes when no array of the program shows it.
TEST(KernelCache, MemoryOfTheProgramIsNotKept) {
  for (int round = 0; round < 3; ++round) {
    const auto owner = std::make_shared<std::vector<float>>(2, static_cast<float>(round));
    {
      const Array by = array_view(owner->data(), {2}, owner);
      const Array y = fori_loop(
          0, 2, [&](const Array&, const Array& c) { return c + by; }, zeros({2}));
      EXPECT_TRUE(array_equal(y, full({2}, 2.0f * static_cast<float>(round))));
    }
    EXPECT_EQ(owner.use_count(), 1);
  }
}

}  // namespace kernel_cache_test
}  // namespace spruce::internal
