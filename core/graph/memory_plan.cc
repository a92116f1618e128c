// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/graph/memory_plan.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

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
  struct Gap {
    size_t size, number;
  };
  std::map<size_t, Gap> gaps;                           // by offset
  std::map<std::pair<size_t, size_t>, size_t> by_size;  // by size and number: the offset
  size_t made = 0;
  const auto forget = [&](std::map<size_t, Gap>::iterator gap) {
    by_size.erase({gap->second.size, gap->second.number});
    return gaps.erase(gap);
  };
  const auto add = [&](size_t offset, size_t size) {
    gaps.emplace(offset, Gap{size, made});
    by_size.emplace(std::pair(size, made++), offset);
  };
  size_t ended = 0;
  for (const size_t i : starts) {
    for (; ended < ends.size() && lifetimes[ends[ended]].last < lifetimes[i].first; ++ended) {
      size_t offset = plan.offsets[ends[ended]], size = rounded(lifetimes[ends[ended]].bytes);
      if (size == 0) continue;
      auto after = gaps.lower_bound(offset);
      if (after != gaps.end() && after->first == offset + size) {
        size += after->second.size;
        after = forget(after);
      }
      if (after != gaps.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second.size == offset) {
          offset = before->first;
          size += before->second.size;
          forget(before);
        }
      }
      add(offset, size);
    }
    const size_t size = rounded(lifetimes[i].bytes);
    if (size == 0) continue;
    const auto fit = by_size.lower_bound({size, 0});
    if (fit != by_size.end()) {
      const size_t offset = fit->second, space = fit->first.first;
      forget(gaps.find(offset));
      plan.offsets[i] = offset;
      if (space > size) add(offset + size, space - size);
      continue;
    }
    // A gap at the end grows.
    const auto end = gaps.empty() ? gaps.end() : std::prev(gaps.end());
    if (end != gaps.end() && end->first + end->second.size == plan.bytes) {
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

namespace {

constexpr int kMostAliases = 256;

// The places in one interval.
class IntervalPlan {
 public:
  IntervalPlan(const IdleInterval& w, size_t number) : interval_(w), number_(number) {}

  /// The lowest offset that is free throughout; the interval's size where there is none.
  size_t find(const Lifetime& l) const {
    const size_t none = interval_.bytes, size = rounded(l.bytes);
    if (l.first < interval_.first || l.last > interval_.last || l.bytes > none) return none;
    std::vector<std::pair<size_t, size_t>> rivals;  // begin, end
    for (const auto& [other, at] : placed_) {
      if (other.first <= l.last && l.first <= other.last)
        rivals.emplace_back(at, at + rounded(other.bytes));
    }
    std::sort(rivals.begin(), rivals.end());
    size_t offset = 0;
    for (const auto& [begin, end] : rivals) {
      if (begin >= offset + size) break;
      offset = std::max(offset, end);
    }
    return offset + l.bytes <= none ? offset : none;
  }
  void put(const Lifetime& l, size_t offset) { placed_.emplace_back(l, offset); }
  size_t bytes() const { return interval_.bytes; }
  int32_t number() const { return static_cast<int32_t>(number_); }

 private:
  IdleInterval interval_;
  size_t number_;
  std::vector<std::pair<Lifetime, size_t>> placed_;
};

// The bytes in use at each step, as a tree of which each node has the most of its half.
class Usage {
 public:
  explicit Usage(std::span<const Lifetime> lifetimes) {
    int32_t last = 0;
    for (const Lifetime& l : lifetimes) last = std::max(last, l.last);
    leaves_ = std::bit_ceil(static_cast<size_t>(last) + 1);
    most_.assign(2 * leaves_, 0);
    added_.assign(2 * leaves_, 0);
    for (const Lifetime& l : lifetimes) add(l, static_cast<int64_t>(rounded(l.bytes)));
  }

  void add(const Lifetime& l, int64_t bytes) {
    size_t low = leaves_ + static_cast<size_t>(std::max(l.first, 0)),
           high = leaves_ + static_cast<size_t>(l.last) + 1;
    const size_t first = low, end = high - 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 != 0) put(low++, bytes);
      if (high % 2 != 0) put(--high, bytes);
    }
    for (size_t node : {first, end}) {
      for (node /= 2; node > 0; node /= 2)
        most_[node] = std::max(most_[2 * node], most_[2 * node + 1]) + added_[node];
    }
  }

  /// The first step at which the most bytes are in use.
  int32_t fullest() const {
    size_t node = 1;
    while (node < leaves_) node = 2 * node + (most_[2 * node] >= most_[2 * node + 1] ? 0 : 1);
    return static_cast<int32_t>(node - leaves_);
  }

 private:
  void put(size_t node, int64_t bytes) {
    most_[node] += bytes;
    added_[node] += bytes;
  }

  size_t leaves_ = 1;                  // one for each step; node n has nodes 2 n and 2 n + 1 below
  std::vector<int64_t> most_, added_;  // by node: `added_` goes for all steps below it
};

}  // namespace

std::vector<Alias> alias_idle_memory(std::span<Lifetime> lifetimes, size_t movable,
                                     std::span<const IdleInterval> intervals) {
  std::vector<Alias> aliases(movable);
  std::vector<IntervalPlan> plans;
  for (size_t w = 0; w < intervals.size(); ++w) plans.emplace_back(intervals[w], w);
  std::stable_sort(plans.begin(), plans.end(), [](const IntervalPlan& a, const IntervalPlan& b) {
    return a.bytes() < b.bytes();
  });
  if (intervals.empty()) return aliases;
  Usage usage(lifetimes);
  for (int n = 0; n < kMostAliases; ++n) {
    const int32_t step = usage.fullest();
    std::vector<size_t> there;
    for (size_t i = 0; i < movable; ++i) {
      const Lifetime& l = lifetimes[i];
      if (l.bytes > 0 && l.first <= step && step <= l.last) there.push_back(i);
    }
    std::stable_sort(there.begin(), there.end(),
                     [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
    bool placed = false;
    for (size_t k = 0; k < there.size() && !placed; ++k) {
      Lifetime& l = lifetimes[there[k]];
      for (size_t w = 0; w < plans.size() && !placed; ++w) {
        const size_t offset = plans[w].find(l);
        if (offset == plans[w].bytes()) continue;
        plans[w].put(l, offset);
        aliases[there[k]] = {plans[w].number(), offset};
        usage.add(l, -static_cast<int64_t>(rounded(l.bytes)));
        l.bytes = 0;
        placed = true;
      }
    }
    if (!placed) break;
  }
  return aliases;
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
