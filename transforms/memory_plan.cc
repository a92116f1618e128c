// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/memory_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace spruce::internal {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kFew = 2000;  // blocks that may be placed in quadratic time

size_t rounded(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// In the order of time, each block in the smallest gap that fits.
MemoryPlan by_time(std::span<const Lifetime> lifetimes) {
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> starts(lifetimes.size()), ends(lifetimes.size());
  std::iota(starts.begin(), starts.end(), size_t{0});
  std::iota(ends.begin(), ends.end(), size_t{0});
  std::stable_sort(starts.begin(), starts.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].first < lifetimes[b].first; });
  std::stable_sort(ends.begin(), ends.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].last < lifetimes[b].last; });
  std::map<size_t, size_t> gaps;  // offset -> size
  std::multimap<size_t, size_t> by_size;
  const auto forget = [&](std::map<size_t, size_t>::iterator gap) {
    auto [at, end] = by_size.equal_range(gap->second);
    while (at->second != gap->first) ++at;
    by_size.erase(at);
    return gaps.erase(gap);
  };
  const auto add = [&](size_t offset, size_t size) {
    gaps.emplace(offset, size);
    by_size.emplace(size, offset);
  };
  size_t ended = 0;
  for (const size_t i : starts) {
    for (; ended < ends.size() && lifetimes[ends[ended]].last < lifetimes[i].first; ++ended) {
      size_t offset = plan.offsets[ends[ended]], size = rounded(lifetimes[ends[ended]].bytes);
      if (size == 0) continue;
      auto after = gaps.lower_bound(offset);
      if (after != gaps.end() && after->first == offset + size) {
        size += after->second;
        after = forget(after);
      }
      if (after != gaps.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == offset) {
          offset = before->first;
          size += before->second;
          forget(before);
        }
      }
      add(offset, size);
    }
    const size_t size = rounded(lifetimes[i].bytes);
    if (size == 0) continue;
    const auto fit = by_size.lower_bound(size);
    if (fit != by_size.end()) {
      const size_t offset = fit->second, space = fit->first;
      forget(gaps.find(offset));
      plan.offsets[i] = offset;
      if (space > size) add(offset + size, space - size);
      continue;
    }
    // A gap at the end grows.
    const auto end = gaps.empty() ? gaps.end() : std::prev(gaps.end());
    if (end != gaps.end() && end->first + end->second == plan.bytes) {
      plan.offsets[i] = end->first;
      plan.bytes = end->first + size;
      forget(end);
    } else {
      plan.offsets[i] = plan.bytes;
      plan.bytes += size;
    }
  }
  return plan;
}

/// Large blocks first, each at the lowest place that is free throughout its life.
MemoryPlan by_size(std::span<const Lifetime> lifetimes) {
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<size_t> placed, rivals;
  for (const size_t i : order) {
    const Lifetime& l = lifetimes[i];
    const size_t size = rounded(l.bytes);
    if (size == 0) break;
    rivals.clear();
    for (const size_t j : placed) {
      if (lifetimes[j].first <= l.last && l.first <= lifetimes[j].last) rivals.push_back(j);
    }
    std::sort(rivals.begin(), rivals.end(),
              [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    size_t offset = 0;
    for (const size_t j : rivals) {
      if (plan.offsets[j] >= offset + size) break;
      offset = std::max(offset, plan.offsets[j] + rounded(lifetimes[j].bytes));
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + size);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
  MemoryPlan plan = by_time(lifetimes);
  if (lifetimes.size() > kFew || plan.bytes <= least_memory(lifetimes)) return plan;
  MemoryPlan other = by_size(lifetimes);
  return other.bytes < plan.bytes ? other : plan;
}

size_t least_memory(std::span<const Lifetime> lifetimes) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // step, bytes; what ends goes before
  for (const Lifetime& l : lifetimes) {
    const auto size = static_cast<int64_t>(rounded(l.bytes));
    changes.emplace_back(int64_t{l.first}, size);
    changes.emplace_back(int64_t{l.last} + 1, -size);
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, most = 0;
  for (const auto& [step, bytes] : changes) most = std::max(most, now += bytes);
  return static_cast<size_t>(most);
}

}  // namespace spruce::internal
