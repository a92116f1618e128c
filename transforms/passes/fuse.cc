// SPDX-License-Identifier: Apache-2.0
// Groups equations that run as one. Two groups become one where a value passes between them (or
// where both read it), no path leads out of the group and back, and the loop nests of the whole do
// not read the large arrays more often than the parts.
#include <algorithm>
#include <map>
#include <numeric>

#include "spruce/core/cpu/fusion/schedule.h"
#include "spruce/core/graph/build.h"
#include "spruce/core/rules/fused.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/passes/slices.h"

namespace spruce::passes {
namespace {

constexpr size_t kMostEquations = 64;
constexpr size_t kMostArrays = 32;  // that a group reads and writes
constexpr int64_t kSmall = 2048;    // elements that stay in the first-level cache in any case
constexpr int64_t kShortest = 32;   // elements of a run that is worth its overhead
constexpr int64_t kMostShortRuns = 64;
constexpr int64_t kDetail = 8;  // times as large is what a value is small beside

size_t at(ValueId v) { return static_cast<size_t>(v); }

// Broadcasts, counts and slices cost nothing within a group, so each consumer has its own.
bool is_free(const Equation& e) {
  return e.primitive == &broadcast_in_dim_p || e.primitive == &iota_p || e.primitive == &slice_p;
}

bool is_fusible(const Graph& g, const Equation& e) {
  const bool moves = e.primitive == &slice_p || e.primitive == &concatenate_p;
  return e.outputs.size() == 1 && (!moves || has_long_runs(g, e)) &&
         cpu::fusible(*e.primitive, e.params, types_of(g, e.inputs), g.avals[at(e.outputs[0])]);
}

// The graph with an equation of its own for each fusible consumer of a free value.
Graph with_free_values_apart(const Graph& graph) {
  Graph out;
  out.avals = graph.avals;
  out.inputs = graph.inputs;
  out.constants = graph.constants;
  out.outputs = graph.outputs;
  std::vector<const Equation*> free(graph.avals.size(), nullptr);
  std::vector<int> uses(graph.avals.size(), 0);
  for (const Equation& e : graph.equations) {
    for (const ValueId v : e.inputs) ++uses[at(v)];
    if (is_free(e) && is_fusible(graph, e)) free[at(e.outputs[0])] = &e;
  }
  for (const Equation& e : graph.equations) {
    Equation copy = e;
    if (is_fusible(graph, e)) {
      for (ValueId& v : copy.inputs) {
        const Equation* from = free[at(v)];
        if (from == nullptr || uses[at(v)] < 2) continue;
        Equation own = *from;
        v = own.outputs[0] = out.add_value(graph.avals[at(v)]);
        out.equations.push_back(std::move(own));
      }
    }
    out.equations.push_back(std::move(copy));
  }
  return out;
}

class Fuser {
 public:
  explicit Fuser(const Graph& graph) : g_(graph) {
    const size_t n = g_.equations.size();
    group_.resize(n);
    std::iota(group_.begin(), group_.end(), size_t{0});
    order_ = group_;
    place_ = group_;
    producer_.assign(g_.avals.size(), n);
    consumers_.resize(g_.avals.size());
    constant_.assign(g_.avals.size(), nullptr);
    wanted_.assign(g_.avals.size(), false);
    visited_.assign(n, 0);
    for (const ValueId v : g_.outputs) wanted_[at(v)] = true;
    for (const Graph::Constant& c : g_.constants) {
      if (c.value.size() == 1) constant_[at(c.id)] = &c;
    }
    for (size_t k = 0; k < n; ++k) {
      const Equation& e = g_.equations[k];
      members_.push_back({k});
      fusible_.push_back(is_fusible(g_, e));
      for (const ValueId v : e.inputs) consumers_[at(v)].push_back(k);
      for (const ValueId v : e.outputs) producer_[at(v)] = k;
    }
  }

  Graph run() {
    merge_with_consumers(
        [&](size_t k, size_t c) { return !is_total(g_.equations[k]) && !is_detail(k, c); });
    // What is small beside its consumers joins them if it is theirs alone.
    for (size_t k = g_.equations.size(); k-- > 0;) {
      const ValueId y = g_.equations[k].outputs[0];
      const auto& readers = consumers_[at(y)];
      if (!fusible_[k] || wanted_[at(y)] || readers.empty()) continue;
      const bool one = std::all_of(readers.begin(), readers.end(),
                                   [&](size_t c) { return group_[c] == group_[readers[0]]; });
      if (one && !is_total(g_.equations[k])) merge(k, readers[0]);
    }
    // Groups that read the same large array.
    for (size_t v = 0; v < g_.avals.size(); ++v) {
      if (g_.avals[v].numel() <= kSmall) continue;
      const auto& readers = consumers_[v];
      for (size_t i = 1; i < readers.size(); ++i) merge(readers[i - 1], readers[i]);
    }
    merge_with_consumers([&](size_t k, size_t) { return is_total(g_.equations[k]); });
    // A concatenation joins the group that computes all of its operands.
    for (size_t k = 0; k < g_.equations.size(); ++k) {
      const Equation& e = g_.equations[k];
      if (e.primitive != &concatenate_p) continue;
      const size_t first = producer_[at(e.inputs[0])];
      if (first < k) merge(first, k);
    }
    return rewritten();
  }

 private:
  // One element of a large array, such as a loss: it belongs to what else reads that array before
  // it belongs to what reads it.
  bool is_total(const Equation& e) const {
    return g_.avals[at(e.outputs[0])].numel() == 1 && !e.inputs.empty() &&
           g_.avals[at(e.inputs[0])].numel() > kSmall;
  }
  // True if a hands c a value that is small beside what c works on, as numbers that many groups
  // share.
  bool is_detail(size_t a, size_t c) const {
    return work(a) * kDetail < work(c) && work(c) > kDetail;
  }
  int64_t work(size_t k) const {
    const Equation& e = g_.equations[k];
    int64_t n = g_.avals[at(e.outputs[0])].numel();
    for (const ValueId v : e.inputs) n = std::max(n, g_.avals[at(v)].numel());
    return n;
  }

  template <class Which>
  void merge_with_consumers(const Which& which) {
    for (size_t k = g_.equations.size(); k-- > 0;) {
      if (!fusible_[k]) continue;
      for (const size_t c : consumers_[at(g_.equations[k].outputs[0])]) {
        if (which(k, c)) merge(k, c);
      }
    }
  }

  void merge(size_t a, size_t b) {
    if (!fusible_[a] || !fusible_[b]) return;
    a = group_[a];
    b = group_[b];
    if (a == b) return;
    if (place_[a] > place_[b]) std::swap(a, b);
    if (members_[a].size() + members_[b].size() > kMostEquations) return;
    std::vector<size_t> both;
    std::merge(members_[a].begin(), members_[a].end(), members_[b].begin(), members_[b].end(),
               std::back_inserter(both));
    if (!pays(both)) return;
    std::vector<size_t> behind;  // groups between the two that need the first
    if (!reach(a, b, behind)) return;
    // The two stand where the second stood; what needs the first moves behind.
    std::vector<size_t> between;
    for (size_t p = place_[a] + 1; p < place_[b]; ++p) {
      if (visited_[order_[p]] != stamp_) between.push_back(order_[p]);
    }
    size_t p = place_[a];
    for (const size_t x : between) put(x, p++);
    put(b, p++);
    for (const size_t x : behind) put(x, p++);
    put(a, p);  // an empty group from now on
    for (const size_t m : members_[a]) group_[m] = b;
    members_[b] = std::move(both);
    members_[a].clear();
  }

  void put(size_t group, size_t place) {
    order_[place] = group;
    place_[group] = place;
  }

  // The groups that need `from` and stand before `to`, in order; false if `to` needs one of them.
  bool reach(size_t from, size_t to, std::vector<size_t>& found) {
    ++stamp_;
    std::vector<size_t> todo = {from};
    visited_[from] = stamp_;
    while (!todo.empty()) {
      const size_t x = todo.back();
      todo.pop_back();
      for (const size_t m : members_[x]) {
        for (const ValueId v : g_.equations[m].outputs) {
          for (const size_t c : consumers_[at(v)]) {
            const size_t y = group_[c];
            if (y == to && x != from) return false;
            if (y == to || visited_[y] == stamp_ || place_[y] > place_[to]) continue;
            visited_[y] = stamp_;
            found.push_back(y);
            todo.push_back(y);
          }
        }
      }
    }
    std::sort(found.begin(), found.end(),
              [&](size_t x, size_t y) { return place_[x] < place_[y]; });
    return true;
  }

  // The body of a group. Constants of one element belong to it.
  Graph body(const std::vector<size_t>& members, std::vector<ValueId>* inputs,
             std::vector<ValueId>* outputs) {
    Graph b;
    std::map<ValueId, ValueId> renamed;
    for (const size_t m : members) {
      Equation e = g_.equations[m];
      for (ValueId& v : e.inputs) {
        const auto [it, added] = renamed.try_emplace(v, 0);
        if (added) {
          it->second = b.add_value(g_.avals[at(v)]);
          if (constant_[at(v)] != nullptr) {
            b.constants.push_back({it->second, constant_[at(v)]->value});
          } else {
            b.inputs.push_back(it->second);
            if (inputs != nullptr) inputs->push_back(v);
          }
        }
        v = it->second;
      }
      ValueId& y = e.outputs[0];
      const ValueId id = renamed[y] = b.add_value(g_.avals[at(y)]);
      const auto& readers = consumers_[at(y)];
      const bool leaves =
          wanted_[at(y)] || std::any_of(readers.begin(), readers.end(), [&](size_t c) {
            return !std::binary_search(members.begin(), members.end(), c);
          });
      if (leaves) {
        b.outputs.push_back(id);
        if (outputs != nullptr) outputs->push_back(y);
      }
      y = id;
      b.equations.push_back(std::move(e));
    }
    return b;
  }

  bool pays(const std::vector<size_t>& members) {
    const Graph b = body(members, nullptr, nullptr);
    if (b.inputs.size() + b.outputs.size() > kMostArrays) return false;
    const std::optional<cpu::Schedule> s = cpu::schedule_of(b);
    if (!s) return false;
    // A value that leaves must have its elements in memory anyway.
    for (const ValueId v : b.outputs) {
      if (s->depends(s->root_of(v)) != s->space.shape[at(v)] ||
          (s->phase_of_value(s->root_of(v)) < 0 && !s->space.has_parts(v)))
        return false;
    }
    int64_t largest = 0;
    for (const cpu::Phase& p : s->phases) largest = std::max(largest, s->space.numel(p.axes));
    int large = 0;
    for (const cpu::Phase& p : s->phases) {
      const int64_t n = s->space.numel(p.axes);
      if (n > kSmall && n * 4 > largest) ++large;
      cpu::AxisSet rest = p.axes & ~p.inner_set();
      const cpu::AxisSet run = p.inner_set() | cpu::Phase{rest, {}}.inner_set();
      const int64_t length = s->space.numel(run);
      if (length < kShortest && n / length > kMostShortRuns) return false;
    }
    return large <= 1;
  }

  Graph rewritten() {
    Graph out;
    out.avals = g_.avals;
    out.inputs = g_.inputs;
    out.constants = g_.constants;
    out.outputs = g_.outputs;
    for (const size_t group : order_) {
      const auto& members = members_[group];
      const auto working = std::count_if(members.begin(), members.end(), [&](size_t m) {
        const Equation& e = g_.equations[m];
        return !is_free(e) && e.primitive != &reshape_p;
      });
      if (members.size() < 2 || working == 0) {
        for (const size_t m : members) out.equations.push_back(g_.equations[m]);
        continue;
      }
      Equation e;
      e.primitive = &fused_p;
      e.place = g_.equations[members.back()].place;
      // The copies of a free value that came together are one again.
      Graph b = common_subexpressions(body(members, &e.inputs, &e.outputs));
      e.params = Params::make(FusedParams{std::make_shared<const Graph>(std::move(b))});
      out.equations.push_back(std::move(e));
    }
    return out;
  }

  const Graph& g_;
  std::vector<size_t> group_;                 // by equation
  std::vector<std::vector<size_t>> members_;  // by group, in order
  std::vector<size_t> order_, place_;         // a valid order of the groups, and where each stands
  std::vector<bool> fusible_, wanted_;
  std::vector<size_t> producer_;
  std::vector<std::vector<size_t>> consumers_;    // by value
  std::vector<const Graph::Constant*> constant_;  // by value: of one element
  std::vector<uint32_t> visited_;
  uint32_t stamp_ = 0;
};

}  // namespace

Graph fuse(const Graph& graph) {
  Graph apart = dead_code(with_free_values_apart(graph));
  for (Equation& e : apart.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, fuse);
  }
  return dead_code(common_subexpressions(Fuser(apart).run()));
}

}  // namespace spruce::passes
