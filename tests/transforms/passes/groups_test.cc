// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/fusion/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "spruce/core/ops/math.h"

namespace spruce::passes {
namespace groups_test {

// A graph of additions over what `operands` says: by equation, the equations that it reads; none is
// the input.
Graph graph_of(const std::vector<std::vector<size_t>>& operands) {
  Graph g;
  const Aval type{float32, false, Shape{4}};
  g.inputs = {g.add_value(type)};
  for (const std::vector<size_t>& from : operands) {
    std::vector<ValueId> in;
    for (const size_t k : from) in.push_back(static_cast<ValueId>(k) + 1);
    in.resize(2, in.empty() ? g.inputs[0] : in.back());
    const ValueId y = g.add_value(type);
    g.equations.push_back({&add_p, {}, in, {y}, {}});
  }
  return g;
}

// True if a path of two steps or more leads from group a to group b.
bool path_through_others(const Graph& g, const Groups& groups, size_t a, size_t b) {
  std::vector<bool> seen(g.equations.size(), false);
  std::vector<size_t> todo = {a};
  while (!todo.empty()) {
    const size_t x = todo.back();
    todo.pop_back();
    for (const size_t m : groups.members(x)) {
      for (const size_t c : groups.consumers(g.equations[m].outputs[0])) {
        const size_t y = groups.of(c);
        if (y == b && x != a) return true;
        if (y == b || y == a || seen[y]) continue;
        seen[y] = true;
        todo.push_back(y);
      }
    }
  }
  return false;
}

bool can_run(const Graph& g, const Groups& groups) {
  std::vector<bool> done(g.avals.size(), false);
  done[0] = true;
  for (const size_t group : groups.order()) {
    for (const size_t m : groups.members(group)) {
      for (const ValueId v : g.equations[m].inputs) {
        if (!done[static_cast<size_t>(v)]) return false;
      }
      done[static_cast<size_t>(g.equations[m].outputs[0])] = true;
    }
  }
  return std::find(done.begin(), done.end(), false) == done.end();
}

TEST(Groups, MergeWhereNoPathLeadsOutAndBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::vector<size_t>> operands(40);
    for (size_t k = 1; k < operands.size(); ++k) {
      const size_t near = std::min<size_t>(k, 2 + random() % 12);
      for (size_t i = random() % 3; i-- > 0;) operands[k].push_back(k - 1 - random() % near);
    }
    const Graph g = graph_of(operands);
    Groups groups(g);
    for (int n = 0; n < 60; ++n) {
      size_t a = groups.of(random() % operands.size()), b = groups.of(random() % operands.size());
      if (a == b) continue;
      if (groups.before(b, a)) std::swap(a, b);
      const bool can = groups.can_merge(a, b);
      ASSERT_EQ(can, !path_through_others(g, groups, a, b));
      if (!can) continue;
      std::vector<size_t> both = groups.members(a);
      both.insert(both.end(), groups.members(b).begin(), groups.members(b).end());
      std::sort(both.begin(), both.end());
      groups.merge(a, b, both);
      ASSERT_TRUE(can_run(g, groups));
      ASSERT_EQ(groups.of(both[0]), b);
    }
  }
}

// A program and its derivative: equation k of the one is read by equation k of the other, in
// reverse.
TEST(Groups, FindPathsThatAreShortInTimeThatDoesNotDependOnTheProgram) {
  constexpr size_t kSteps = 20000;
  std::vector<std::vector<size_t>> operands(2 * kSteps);
  for (size_t k = 1; k < kSteps; ++k) operands[k] = {k - 1};
  for (size_t k = kSteps; k < 2 * kSteps; ++k) operands[k] = {k - 1, 2 * kSteps - 1 - k};
  const Graph g = graph_of(operands);
  Groups groups(g);
  for (size_t k = 0; k + 1 < kSteps; ++k) EXPECT_FALSE(groups.can_merge(k, 2 * kSteps - 1 - k));
  EXPECT_LT(groups.followed(), static_cast<int64_t>(10 * kSteps));
}

}  // namespace groups_test
}  // namespace spruce::passes
