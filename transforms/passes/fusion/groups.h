// SPDX-License-Identifier: Apache-2.0
// A partition of the equations of a graph into groups that can run one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// Equations by number. At first each is a group of its own, whose number is that of the equation.
class Groups {
 public:
  /// `graph` has to live as long.
  explicit Groups(const Graph& graph);

  /// The group of an equation.
  size_t of(size_t equation) const { return group_[equation]; }
  /// The equations of a group in order; none where it has been merged into another.
  const std::vector<size_t>& members(size_t group) const { return members_[group]; }
  /// The equations that read v, one for each time; in order.
  const std::vector<size_t>& consumers(ValueId v) const {
    return consumers_[static_cast<size_t>(v)];
  }
  /// The equation that computes v; the number of equations for inputs and constants.
  size_t producer(ValueId v) const { return producer_[static_cast<size_t>(v)]; }
  /// True if group a runs before group b.
  bool before(size_t a, size_t b) const { return label_[a] < label_[b]; }

  /// True if `first`, which runs before `second`, can become one with it: no path leads from one to
  /// the other through a third. False too where the search for one takes too long.
  bool can_merge(size_t first, size_t second);
  /// Makes one group of those that can_merge() was asked about last. It keeps the number of
  /// `second`.
  void merge(size_t first, size_t second, std::vector<size_t> members);

  /// The groups with equations, in an order in which they can run.
  std::vector<size_t> order() const;
  /// The dependences that all searches have followed so far.
  int64_t followed() const { return followed_; }

 private:
  // Groups from one side, nearest to the other side first.
  struct Search {
    std::vector<size_t> todo;   // a heap
    std::vector<size_t> found;  // without the one that it began at
  };
  enum class Side : uint8_t { kNone, kForward, kBackward };

  template <class Reach>
  void for_each_next(size_t group, Side side, const Reach& reach) const;
  bool step(Search& search, Side side, size_t from, size_t to);
  // True if a search from that side comes to x before y.
  bool in_front(Side side, size_t x, size_t y) const {
    return side == Side::kForward ? before(x, y) : before(y, x);
  }
  void unlink(size_t group);
  void insert_behind(size_t place, const std::vector<size_t>& groups);

  const Graph& graph_;
  std::vector<size_t> group_;                   // by equation
  std::vector<std::vector<size_t>> members_;    // by group
  std::vector<size_t> producer_;                // by value
  std::vector<std::vector<size_t>> consumers_;  // by value
  // The order is a list with an end at number n; labels grow along it.
  std::vector<size_t> next_, previous_;
  std::vector<uint64_t> label_;
  // Of the last search: who has been there, and what has to move if the two become one.
  std::vector<uint32_t> visited_;  // by group: the number of the search
  std::vector<Side> from_;         // by group: the side that it was reached from
  uint32_t number_ = 0;
  Side complete_ = Side::kNone;
  std::vector<size_t> moves_;
  int64_t followed_ = 0;
};

}  // namespace spruce::passes
