// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/fusion/groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace spruce::passes {
namespace {

constexpr int64_t kMostFollowed = 1 << 14;        // dependences that one search follows
constexpr uint64_t kSpacing = uint64_t{1} << 32;  // of new labels

}  // namespace

Groups::Groups(const Graph& graph) : graph_(graph) {
  const size_t n = graph.equations.size();
  group_.resize(n);
  std::iota(group_.begin(), group_.end(), size_t{0});
  members_.resize(n);
  producer_.assign(graph.avals.size(), n);
  consumers_.resize(graph.avals.size());
  visited_.assign(n, 0);
  from_.assign(n, Side::kNone);
  for (size_t k = 0; k <= n; ++k) {
    next_.push_back(k < n ? k + 1 : 0);
    previous_.push_back(k > 0 ? k - 1 : n);
    label_.push_back((k + 1) * kSpacing);
  }
  for (size_t k = 0; k < n; ++k) {
    members_[k] = {k};
    for (const ValueId v : graph.equations[k].inputs)
      consumers_[static_cast<size_t>(v)].push_back(k);
    for (const ValueId v : graph.equations[k].outputs) producer_[static_cast<size_t>(v)] = k;
  }
}

// reach(y) for each group y that reads what the group computes, or computes what it reads; ends
// when reach gives false.
template <class Reach>
void Groups::for_each_next(size_t group, Side side, const Reach& reach) const {
  for (const size_t m : members_[group]) {
    const Equation& e = graph_.equations[m];
    if (side == Side::kForward) {
      for (const ValueId v : e.outputs) {
        for (const size_t c : consumers(v)) {
          if (!reach(group_[c])) return;
        }
      }
    } else {
      for (const ValueId v : e.inputs) {
        const size_t p = producer(v);
        if (p < group_.size() && !reach(group_[p])) return;
      }
    }
  }
}

// Goes on from the nearest group of a search that leads from `from` to `to`. False if it has met
// the other one, or `to`.
bool Groups::step(Search& search, Side side, size_t from, size_t to) {
  const auto farther = [&](size_t x, size_t y) { return in_front(side, x, y); };
  std::pop_heap(search.todo.begin(), search.todo.end(), farther);
  const size_t x = search.todo.back();
  search.todo.pop_back();
  bool apart = true;
  for_each_next(x, side, [&](size_t y) {
    ++followed_;
    if (y == to) return apart = x == from;
    if (in_front(side, to, y)) return true;
    if (visited_[y] == number_) return apart = from_[y] == side;
    visited_[y] = number_;
    from_[y] = side;
    search.found.push_back(y);
    search.todo.push_back(y);
    std::push_heap(search.todo.begin(), search.todo.end(), farther);
    return true;
  });
  return apart;
}

bool Groups::can_merge(size_t first, size_t second) {
  ++number_;
  complete_ = Side::kNone;
  Search forward{{first}, {}}, backward{{second}, {}};
  visited_[first] = visited_[second] = number_;
  from_[first] = Side::kForward;
  from_[second] = Side::kBackward;
  const int64_t most = followed_ + kMostFollowed;
  while (complete_ == Side::kNone && followed_ < most) {
    if (!step(forward, Side::kForward, first, second)) return false;
    if (forward.todo.empty()) {
      complete_ = Side::kForward;
      moves_ = std::move(forward.found);
      break;
    }
    if (!step(backward, Side::kBackward, second, first)) return false;
    if (backward.todo.empty()) {
      complete_ = Side::kBackward;
      moves_ = std::move(backward.found);
    }
  }
  return complete_ != Side::kNone;
}

void Groups::merge(size_t first, size_t second, std::vector<size_t> members) {
  std::sort(moves_.begin(), moves_.end(), [&](size_t x, size_t y) { return before(x, y); });
  for (const size_t x : moves_) unlink(x);
  if (complete_ == Side::kForward) {
    // The one stands where the second stood; what needs the first moves behind.
    insert_behind(second, moves_);
  } else {
    // The one stands where the first stood; what the second needs moves in front.
    unlink(second);
    moves_.push_back(second);
    insert_behind(first, moves_);
  }
  unlink(first);
  for (const size_t m : members_[first]) group_[m] = second;
  members_[first].clear();
  members_[second] = std::move(members);
}

std::vector<size_t> Groups::order() const {
  const size_t end = group_.size();
  std::vector<size_t> order;
  for (size_t x = next_[end]; x != end; x = next_[x]) order.push_back(x);
  return order;
}

void Groups::unlink(size_t group) {
  next_[previous_[group]] = next_[group];
  previous_[next_[group]] = previous_[group];
}

void Groups::insert_behind(size_t place, const std::vector<size_t>& groups) {
  const size_t end = group_.size(), behind = next_[place];
  const uint64_t last =
      behind == end ? label_[place] + kSpacing * (groups.size() + 1) : label_[behind];
  const uint64_t gap = (last - label_[place]) / (groups.size() + 1);
  for (const size_t x : groups) {
    next_[place] = x;
    previous_[x] = place;
    label_[x] = label_[place] + gap;
    place = x;
  }
  next_[place] = behind;
  previous_[behind] = place;
  if (gap > 0) return;
  uint64_t label = 0;
  for (size_t x = next_[end]; x != end; x = next_[x]) label_[x] = label += kSpacing;
}

}  // namespace spruce::passes
