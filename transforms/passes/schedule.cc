// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "spruce/core/rules/group.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce::passes {
namespace {

constexpr double kWorthIt = 0.95;  // of the peak: below it, another order is taken

using internal::at, internal::is_view;

// How much memory an order of the equations takes, if all inputs are donated. Views have the memory
// of what they show; constants are there in any order.
class Memory {
 public:
  explicit Memory(const Graph& g) : g_(g), root_(g.avals.size()), bytes_(g.avals.size(), 0) {
    for (size_t v = 0; v < root_.size(); ++v) root_[v] = static_cast<ValueId>(v);
    for (const Equation& e : g.equations) {
      if (is_view(e)) {
        root_[at(e.outputs[0])] = root_[at(e.inputs[0])];
        continue;
      }
      for (const ValueId v : e.outputs) bytes_[at(v)] = g.avals[at(v)].bytes();
    }
    for (const ValueId v : g.inputs) now_ += bytes_[at(v)] = g.avals[at(v)].bytes();
    peak_ = now_;
    readers_.resize(g.avals.size(), 0);
    for (const ValueId v : g.outputs) ++readers_[at(root_[at(v)])];
    operands_.resize(g.equations.size());
    used_by_.resize(g.avals.size());
    for (size_t n = 0; n < g.equations.size(); ++n) {
      if (is_view(g.equations[n])) continue;
      std::vector<ValueId>& roots = operands_[n];
      for (const ValueId v : g.equations[n].inputs) roots.push_back(root_[at(v)]);
      std::sort(roots.begin(), roots.end());
      roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
      for (const ValueId v : roots) {
        ++readers_[at(v)];
        used_by_[at(v)].push_back(n);
      }
    }
  }

  /// What the equation would add to the bytes in use, if it ran now.
  int64_t change(size_t n) const {
    int64_t sum = 0;
    if (is_view(g_.equations[n])) return sum;
    for (const ValueId v : g_.equations[n].outputs) sum += readers_[at(v)] > 0 ? bytes_[at(v)] : 0;
    for (const ValueId v : operands_[n]) sum -= readers_[at(v)] == 1 ? bytes_[at(v)] : 0;
    return sum;
  }
  /// Runs the equation. `last` gets each equation that is the last reader of something from now on.
  void run(size_t n, const std::function<void(size_t)>& last = nullptr) {
    if (is_view(g_.equations[n])) return;
    int64_t born = 0, dead = 0;
    for (const ValueId v : g_.equations[n].outputs) {
      born += bytes_[at(v)];
      dead += readers_[at(v)] == 0 ? bytes_[at(v)] : 0;
    }
    for (const ValueId v : operands_[n]) {
      dead += --readers_[at(v)] == 0 ? bytes_[at(v)] : 0;
      if (last == nullptr || readers_[at(v)] != 1) continue;
      for (const size_t other : used_by_[at(v)]) last(other);
    }
    const Primitive& p = *g_.equations[n].primitive;
    // So far as one can say before kernels are prepared.
    const bool in_place = p.in_place || p.kind == PrimitiveKind::kGroup;
    peak_ = std::max(peak_, now_ + born - (in_place ? std::min(born, dead) : 0));
    now_ += born - dead;
  }
  int64_t peak() const { return peak_; }

 private:
  const Graph& g_;
  std::vector<ValueId> root_;
  std::vector<int64_t> bytes_;
  std::vector<int32_t> readers_;
  std::vector<std::vector<ValueId>> operands_;  // by equation
  std::vector<std::vector<size_t>> used_by_;    // by value: equations
  int64_t now_ = 0, peak_ = 0;
};

// Always the equation that frees the most, or adds the least, of those whose inputs are there.
std::vector<size_t> greedy(const Graph& g, Memory& memory) {
  const size_t count = g.equations.size();
  std::vector<std::vector<size_t>> readers(g.avals.size());
  std::vector<size_t> missing(count, 0), order;
  std::set<std::pair<int64_t, size_t>> ready;       // by what it would add
  std::vector<std::optional<int64_t>> adds(count);  // of what is ready
  const auto put = [&](size_t n) {
    if (adds[n]) ready.erase({*adds[n], n});
    adds[n] = memory.change(n);
    ready.insert({*adds[n], n});
  };
  std::vector<uint8_t> made(g.avals.size(), 1);
  for (const Equation& e : g.equations) {
    for (const ValueId v : e.outputs) made[at(v)] = 0;
  }
  for (size_t n = 0; n < count; ++n) {
    for (const ValueId v : g.equations[n].inputs) {
      if (made[at(v)] != 0) continue;
      readers[at(v)].push_back(n);
      ++missing[n];
    }
    if (missing[n] == 0) put(n);
  }
  while (!ready.empty()) {
    const size_t n = ready.begin()->second;
    ready.erase(ready.begin());
    adds[n].reset();
    memory.run(n, [&](size_t other) {
      if (adds[other]) put(other);
    });
    order.push_back(n);
    for (const ValueId v : g.equations[n].outputs) {
      for (const size_t reader : readers[at(v)]) {
        if (--missing[reader] == 0) put(reader);
      }
    }
  }
  return order;
}

}  // namespace

Graph schedule(Graph graph) {
  Memory as_written(graph), other(graph);
  for (size_t n = 0; n < graph.equations.size(); ++n) as_written.run(n);
  const std::vector<size_t> order = greedy(graph, other);
  if (static_cast<double>(other.peak()) >= kWorthIt * static_cast<double>(as_written.peak()))
    return graph;
  std::vector<Equation> ordered;
  ordered.reserve(order.size());
  for (const size_t n : order) ordered.push_back(std::move(graph.equations[n]));
  graph.equations = std::move(ordered);
  return graph;
}

}  // namespace spruce::passes
