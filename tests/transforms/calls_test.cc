// SPDX-License-Identifier: Apache-2.0
// What a call of a compiled function allocates, and what happens to arguments that are moved in.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "spruce/core/memory.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/allocations.h"

namespace spruce {
namespace calls_test {

struct Ten {
  std::array<Array, 10> a;
};

TEST(Calls, ASecondCallAllocatesOnlyItsResults) {
  const auto f = jit([](const Ten& t) {
    Ten out = t;
    for (Array& a : out.a) a = tanh(a * 2.0f) + 1.0f;
    return out;
  });
  Ten t;
  for (size_t i = 0; i < 10; ++i)
    t.a[i] = random::normal(Key(static_cast<uint64_t>(i)), {4, static_cast<int64_t>(i) + 1});
  (void)f(t);
  const Allocated second = allocated_by([&] { return f(t); });
  EXPECT_EQ(second.heap, 0);
  EXPECT_EQ(second.arrays, 20);
  EXPECT_EQ(f.trace_count(), 1);
}

// What row_blocks makes of a chain over many rows: its blocks are no arrays of their own. Threads
// that share the blocks take memory for one block each from the pool, and give it back.
TEST(Calls, BlocksOfRowsAllocateOnlyTheirResults) {
  const auto random = [](uint64_t key, const Shape& shape) {
    return random::normal(Key(key), shape, {.dtype = float64}) * 0.2;
  };
  const auto f = [](const std::vector<Array>& weights, const Array& x) {
    Array h = x;
    for (const Array& w : weights) h = tanh(matmul(h, w));
    return std::pair{h, nn::softmax(h)};
  };
  const std::vector<Array> w = {random(1, {3, 64}), random(2, {64, 64}), random(3, {64, 64})};
  const Array x = random(4, {32768, 3});
  const Graph graph = passes::optimize(make_graph(f)(w, x));
  ASSERT_NE(graph.text().find("scan[length="), std::string::npos) << graph;
  const int before = threads();
  for (const int n : {1, 2}) {
    set_threads(n);
    const auto compiled = jit(f);
    (void)compiled(w, x);
    const int64_t heap = heap_allocations(), arrays = memory::allocation_count(),
                  live = memory::live_bytes();
    const auto [h, y] = compiled(w, x);
    EXPECT_EQ(heap_allocations() - heap, 0);
    const int64_t others = memory::allocation_count() - arrays - 4;
    EXPECT_GE(others, 0);
    EXPECT_LE(others, n > 1 ? n : 0);
    EXPECT_LT(memory::live_bytes() - live, h.aval().bytes() + y.aval().bytes() + 4096);
  }
  set_threads(before);
}

TEST(Calls, MovedArgumentsGiveTheirMemoryToResults) {
  const auto f = jit([](const Array& x, const Array& y) { return std::pair{x + y, x * 3.0f}; });
  Array x = full({1000}, 2.0f), y = full({1000}, 5.0f);
  const float* px = x.data<float>().data();
  const float* py = y.data<float>().data();
  auto [a, b] = f(std::move(x), std::move(y));
  const std::set<const float*> were = {px, py},
                               are = {a.data<float>().data(), b.data<float>().data()};
  EXPECT_EQ(were, are);
  EXPECT_EQ(a[7].item<float>(), 7);
  EXPECT_EQ(b[7].item<float>(), 6);
}

TEST(Calls, AMovedFromTreeSaysSo) {
  const auto f = jit([](const Array& x) { return x + 1.0f; });
  Array x = ones({3});
  (void)f(std::move(x));
  try {
    (void)f(x);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("moved from"), std::string::npos) << e.what();
  }
}

TEST(Calls, OneVariableInTwoArgumentsCannotBeMoved) {
  const auto f = jit([](const Array& x, const Array& y) { return x + y; });
  for (const bool both : {false, true}) {
    Array x = ones({3});
    if (both)
      EXPECT_THROW(f(std::move(x), std::move(x)), ValueError);
    else
      EXPECT_THROW(f(std::move(x), x), ValueError);
  }
  Array x = ones({3});
  const Array copy = x;
  EXPECT_EQ(f(std::move(x), copy)[0].item<float>(), 2);
  EXPECT_EQ(f(copy, copy)[2].item<float>(), 2);
}

// Arrays that are held in many places, moved or kept at random: nothing that is still held changes.
TEST(Calls, WhatIsHeldElsewhereIsNeverWritten) {
  const auto f = jit([](const Array& x, const Array& y, const Array& z) {
    return std::tuple{x + 1.0f, y * x, z, z + y, x};
  });
  std::mt19937 random(3);
  std::vector<Array> pool;
  std::vector<float> value;
  const auto add = [&](Array a, float v) {
    pool.push_back(std::move(a));
    value.push_back(v);
  };
  for (int i = 0; i < 6; ++i) add(full({64}, static_cast<float>(i % 3)), static_cast<float>(i % 3));
  for (int trial = 0; trial < 2000; ++trial) {
    const auto pick = [&] { return static_cast<size_t>(random() % pool.size()); };
    const size_t i = pick(), j = pick(), k = pick();
    if (i == j || j == k || i == k) continue;
    const float x = value[i], y = value[j], z = value[k];
    const bool moved = random() % 2 == 0;
    auto [a, b, c, d, e] = moved ? f(std::move(pool[i]), std::move(pool[j]), std::move(pool[k]))
                                 : f(pool[i], pool[j], pool[k]);
    const auto squashed = [](float v) { return v > 8 ? 1.0f : v; };
    if (moved) {
      pool[i] = x + 1 > 8 ? full({64}, 1.0f) : std::move(a);
      value[i] = squashed(x + 1);
      pool[j] = std::move(c);
      value[j] = z;
      pool[k] = e;
      value[k] = x;
    } else if (random() % 4 == 0) {
      pool[i] = pool[j];  // one memory in two places
      value[i] = value[j];
    }
    EXPECT_EQ(d[5].item<float>(), z + y);
    EXPECT_EQ(b[5].item<float>(), x * y);
    for (size_t n = 0; n < pool.size(); ++n)
      ASSERT_EQ(pool[n][63].item<float>(), value[n]) << "trial " << trial << ", array " << n;
  }
}

}  // namespace calls_test
}  // namespace spruce
