// SPDX-License-Identifier: Apache-2.0
// The plan of a compiled graph: where values stand, what is shared, what is donated.
#include "spruce/transforms/compile/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "spruce/core/graph/memory_plan.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/transforms/compile/jit.h"

namespace spruce::internal {
namespace plan_test {

using From = Plan::Result::From;

TEST(MemoryPlan, BlocksInUseAtOnceDoNotOverlap) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Lifetime> lives;
    const auto n = static_cast<int>(random() % 60);
    for (int i = 0; i < n; ++i) {
      const auto first = static_cast<int32_t>(random() % 40);
      lives.push_back({first, first + static_cast<int32_t>(random() % 12), random() % 5000});
    }
    const MemoryPlan plan = plan_memory(lives);
    EXPECT_GE(plan.bytes, least_memory(lives));
    for (size_t i = 0; i < lives.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0u);
      EXPECT_LE(plan.offsets[i] + lives[i].bytes, plan.bytes);
      for (size_t j = 0; j < i; ++j) {
        if (lives[i].first > lives[j].last || lives[j].first > lives[i].last) continue;
        if (lives[i].bytes == 0 || lives[j].bytes == 0) continue;
        EXPECT_TRUE(plan.offsets[i] + lives[i].bytes <= plan.offsets[j] ||
                    plan.offsets[j] + lives[j].bytes <= plan.offsets[i])
            << trial << ": " << i << " and " << j;
      }
    }
  }
}

TEST(MemoryPlan, AChainOfEqualBlocksTakesTwo) {
  std::vector<Lifetime> lives;
  for (int32_t i = 0; i < 1000; ++i) lives.push_back({i, i + 1, 4096});
  EXPECT_EQ(plan_memory(lives).bytes, 2u * 4096);
  EXPECT_EQ(least_memory(lives), 2u * 4096);
}

TEST(MemoryPlan, ManyBlocksTakeLittleTime) {
  std::vector<Lifetime> lives;
  for (int32_t i = 0; i < 100000; ++i)
    lives.push_back({i, i + 1 + i % 7, size_t{64} * static_cast<size_t>(1 + i % 50)});
  const MemoryPlan plan = plan_memory(lives);
  EXPECT_LE(plan.bytes, 2 * least_memory(lives));
}

TEST(MemoryPlan, LendsWindowsToWhatLivesWithinThem) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Lifetime> lives;
    std::vector<IdleInterval> windows;
    for (int i = 0; i < 30; ++i) {
      const auto first = static_cast<int32_t>(random() % 40);
      lives.push_back({first, first + static_cast<int32_t>(random() % 12), random() % 5000});
    }
    for (int i = 0; i < 5; ++i) {
      const auto first = static_cast<int32_t>(random() % 20);
      windows.push_back({first, first + static_cast<int32_t>(random() % 30), random() % 20000});
    }
    std::vector<Lifetime> rest = lives;
    const std::vector<Alias> aliases = alias_idle_memory(rest, 20, windows);
    ASSERT_EQ(aliases.size(), 20u);
    EXPECT_LE(least_memory(rest), least_memory(lives));
    for (size_t i = 0; i < lives.size(); ++i) {
      const bool lent = i < aliases.size() && aliases[i].interval >= 0;
      EXPECT_EQ(rest[i].bytes, lent ? 0 : lives[i].bytes);
      if (!lent) continue;
      const IdleInterval& w = windows[static_cast<size_t>(aliases[i].interval)];
      EXPECT_TRUE(w.first <= lives[i].first && lives[i].last <= w.last);
      EXPECT_LE(aliases[i].offset + lives[i].bytes, w.bytes);
      for (size_t j = 0; j < i; ++j) {
        if (j >= aliases.size() || aliases[j].interval != aliases[i].interval ||
            lives[i].first > lives[j].last || lives[j].first > lives[i].last)
          continue;
        EXPECT_TRUE(aliases[i].offset + lives[i].bytes <= aliases[j].offset ||
                    aliases[j].offset + lives[j].bytes <= aliases[i].offset);
      }
    }
  }
}

// Runs a plan on vectors of floats.
std::vector<std::vector<float>> run(const Plan& plan, std::vector<std::vector<float>> in) {
  std::vector<const void*> inputs;
  for (auto& v : in) inputs.push_back(v.data());
  std::vector<std::vector<float>> out;
  std::vector<void*> outputs;
  const Graph& g = plan.graph();
  for (const ValueId v : g.outputs)
    out.emplace_back(static_cast<size_t>(g.avals[static_cast<size_t>(v)].numel()), -1.0f);
  for (auto& v : out) outputs.push_back(v.data());
  const Array workspace = zeros({static_cast<int64_t>(plan.workspace_bytes()) + 1}, uint8);
  plan.bind(mutable_data(workspace));
  plan.run(mutable_data(workspace), inputs.data(), outputs.data());
  return out;
}

TEST(Plan, ComputesInPlaceInTheMemoryOfTheOutput) {
  const Plan plan(parse_graph(R"(graph(a: f32[4], b: f32[4]) {
  c: f32[4] = add a b
  d: f32[4] = exp c
  e: f32[4] = neg d
  return e
})"));
  EXPECT_EQ(plan.temporary_bytes(), 0u);
  const auto out = run(plan, {{0, 1, 2, 3}, {0, -1, -2, -3}});
  EXPECT_EQ(out[0], (std::vector<float>{-1, -1, -1, -1}));
  // add may write over either input: the result takes the memory of the first.
  EXPECT_EQ(plan.results()[0].donor, 0);
}

TEST(Plan, DoesNotWriteOverWhatIsStillNeeded) {
  const Plan plan(parse_graph(R"(graph(a: f32[4]) {
  b: f32[4] = exp a
  c: f32[4] = neg b
  d: f32[4] = mul b c
  e: f32[4] = add d a
  return e c
})"));
  const auto out = run(plan, {{0, 0, 0, 0}});
  EXPECT_EQ(out[0], (std::vector<float>{-1, -1, -1, -1}));
  EXPECT_EQ(out[1], (std::vector<float>{-1, -1, -1, -1}));
  // a is read by the last equation, after e's memory is first written: only the last equation
  // could take it.
  EXPECT_EQ(plan.results()[1].donor, -1);
}

TEST(Plan, KnowsOutputsThatAreNotComputed) {
  const Plan plan(parse_graph(R"(graph(a: f32[2,2]) {
  b: f32[2] = constant {5 6}
  c: f32[4] = reshape[shape=[4]] a
  d: f32[4] = neg c
  e: f32[2,2] = reshape[shape=[2,2]] d
  return a c b d e
})"));
  ASSERT_EQ(plan.results().size(), 5u);
  EXPECT_EQ(plan.results()[0].from, From::kInput);
  EXPECT_EQ(plan.results()[1].from, From::kInput);
  EXPECT_EQ(plan.results()[2].from, From::kConstant);
  EXPECT_EQ(plan.results()[3].from, From::kOwn);
  EXPECT_EQ(plan.results()[4].from, From::kOutput);
  EXPECT_EQ(plan.results()[4].index, 3u);
  EXPECT_EQ(plan.results()[3].donor, -1) << "a is a result itself";
}

TEST(Plan, CopiesThemWhenAsked) {
  const Plan plan(parse_graph(R"(graph(a: f32[2,2]) {
  b: f32[2] = constant {5 6}
  c: f32[4] = reshape[shape=[4]] a
  d: f32[4] = neg c
  return a c b d d
})"),
                  true);
  const auto out = run(plan, {{1, 2, 3, 4}});
  EXPECT_EQ(out[0], (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(out[1], (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(out[2], (std::vector<float>{5, 6}));
  EXPECT_EQ(out[3], (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(out[4], (std::vector<float>{-1, -2, -3, -4}));
}

// d is written last: until then its memory is that of b and c.
TEST(Plan, TemporariesStandInResultsThatAreNotYetWritten) {
  const Graph graph = parse_graph(R"(graph(a: f32[3,3], z: f32[9,1], y: f32[1,1]) {
  b: f32[3,3] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a a
  c: f32[3,3] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] b b
  e: f32[] = reduce_sum[axes=[0,1]] c
  d: f32[9,1] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] z y
  return e d z
})");
  const Plan plan(graph);
  EXPECT_LT(plan.temporary_bytes(), 2u * 64);
  const auto out = run(plan, {{1, 0, 0, 0, 2, 0, 0, 0, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {2}});
  EXPECT_EQ(out[0], (std::vector<float>{98}));
  EXPECT_EQ(out[1], (std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16, 18}));
}

// The new value of b stands in the place of the old one, not in that of its change, although that
// dies too: what comes later can have the memory of the change.
TEST(Plan, UpdatesTakeTheMemoryOfWhatTheyReplace) {
  const Plan plan(parse_graph(R"(graph(a: f32[64,64], b: f32[64,64]) {
  c: f32[64,64] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a a
  d: f32[64,64] = add c b
  e: f32[64,64] = dot_general[lhs_contract=[0] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a a
  f: f32[64] = reduce_sum[axes=[1]] e
  return d f a
})"));
  EXPECT_EQ(plan.results()[0].donor, 1);
  EXPECT_EQ(plan.temporary_bytes(), 64u * 64 * 4);
}

// Output k takes the memory of input 1 + k, and what a call may take in its stead is a short list:
// a step of thousands of parameters has as many outputs as inputs that would fit each of them.
TEST(Plan, StepsOfManyLeavesGiveEachItsOwnMemory) {
  constexpr size_t kLeaves = 600;
  const auto step = jit([](const std::vector<Array>& p, const std::vector<Array>& g) {
    std::vector<Array> out;
    for (size_t i = 0; i < p.size(); ++i) out.push_back(p[i] - g[i]);
    return out;
  });
  const std::vector<Array> leaves(kLeaves, ones({4}));
  const Plan plan(step.lower(leaves, leaves).compiled_graph());
  ASSERT_EQ(plan.results().size(), kLeaves);
  size_t others = 0;
  for (size_t k = 0; k < kLeaves; ++k) {
    EXPECT_EQ(plan.results()[k].donor, static_cast<int64_t>(k));
    EXPECT_LE(plan.results()[k].other_donors.size(), 8u);
    others += plan.results()[k].other_donors.size();
  }
  EXPECT_GT(others, kLeaves);
}

TEST(Plan, GivesAnInputsMemoryOnlyAfterItsLastUse) {
  const Plan plan(parse_graph(R"(graph(a: f32[3,3], b: f32[3,3]) {
  c: f32[3,3] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b
  d: f32[3,3] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] c b
  return c d
})"));
  EXPECT_EQ(plan.results()[0].donor, -1) << "a product reads a while it writes c";
  EXPECT_EQ(plan.results()[1].donor, 0);
}

TEST(Plan, AnOutputThatNobodyReadsHasAPlaceOfItsOwn) {
  const Plan plan(parse_graph(R"(graph(a: f32[4]) {
  b: f32[4] = neg a
  c: f32[2], d: i32[2] = top_k[k=2] b
  e: f32[4] = add b b
  return d e
})"));
  std::vector<float> in = {1, 4, 2, 3};
  std::vector<int32_t> indices(2);
  std::vector<float> doubled(4);
  const Array workspace = zeros({static_cast<int64_t>(plan.workspace_bytes()) + 1}, uint8);
  plan.bind(mutable_data(workspace));
  const void* inputs[] = {in.data()};
  void* outputs[] = {indices.data(), doubled.data()};
  plan.run(mutable_data(workspace), inputs, outputs);
  EXPECT_EQ(indices, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(doubled, (std::vector<float>{-2, -8, -4, -6}));
}

}  // namespace plan_test
}  // namespace spruce::internal
