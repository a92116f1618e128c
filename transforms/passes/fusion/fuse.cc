// SPDX-License-Identifier: Apache-2.0
// Groups equations that run as one. Two groups become one where a value passes between them (or
// where both read it), no path leads out of the group and back, and the loop nests of the whole do
// not read the large arrays more often than the parts.
#include <algorithm>
#include <utility>

#include "spruce/core/fusion/schedule.h"
#include "spruce/core/graph/build.h"
#include "spruce/core/rules/layouts.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/fusion/groups.h"
#include "spruce/transforms/passes/fusion/push_slices_up.h"
#include "spruce/transforms/passes/fusion/regions.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

constexpr size_t kMostEquations = 64;
constexpr size_t kMostArrays = 32;  // that a group reads and writes
constexpr size_t kMostCopied = 16;  // moves one behind the other that each consumer has its own of
constexpr int64_t kLongestInPieces = 16384;  // elements of a row that is put together
constexpr int64_t kSmall = 2048;   // elements that stay in the first-level cache in any case
constexpr int64_t kShortest = 32;  // elements of a run that is worth its overhead
constexpr int64_t kMostShortRuns = 64;
constexpr int64_t kMuchLarger = 8;  // times as large is an operation whose operand counts as small

using internal::at;

// What fusion makes of each equation of a graph.
struct Kinds {
  explicit Kinds(const Graph& g);

  std::vector<bool> fusible;
  std::vector<bool> free;  // costs nothing within a group, so each consumer has its own
};

// Broadcasts and counts are free, and what a loop can read where its operands stand: long slices,
// paddings, reversals, concatenations of anything that is not computed element by element just for
// them, and what slices such take. What others read or write in place, no loop has to move.
Kinds::Kinds(const Graph& g) : fusible(g.equations.size()), free(g.equations.size()) {
  const rules::Layouts layouts(g, rules::Layouts::Takers::kWorking);
  std::vector<bool> elementwise(g.avals.size(), false), only_moved(g.avals.size(), true);
  for (const ValueId v : g.outputs) only_moved[at(v)] = false;
  for (const Equation& e : g.equations) {
    if (e.primitive->kind == PrimitiveKind::kElementwise) elementwise[at(e.outputs[0])] = true;
  }
  for (size_t k = g.equations.size(); k-- > 0;) {
    const Equation& e = g.equations[k];
    bool read = false, written = false;
    if (e.primitive == &concatenate_p) {
      written = std::all_of(e.inputs.begin(), e.inputs.end(),
                            [&](ValueId x) { return elementwise[at(x)]; });
      read = !written;
      written = written && has_long_runs(g, e);
    } else if (e.primitive == &slice_p) {
      read = only_moved[at(e.outputs[0])] || has_long_runs(g, e);
    } else {
      read = fusion::only_moves(*e.primitive);
    }
    for (const ValueId x : e.inputs) only_moved[at(x)] = only_moved[at(x)] && read;
    const bool moves = fusion::only_moves(*e.primitive);
    fusible[k] =
        e.outputs.size() == 1 && (!moves || read || written) && layouts.runs(k) &&
        fusion::fusible(*e.primitive, e.params, types_of(g, e.inputs), g.avals[at(e.outputs[0])]);
    free[k] = fusible[k] && (read || e.primitive == &broadcast_in_dim_p || e.primitive == &iota_p);
  }
}

// The graph with an equation of its own for each fusible consumer of a free value.
class FreeValuesApart {
 public:
  explicit FreeValuesApart(const Graph& graph)
      : g_(graph),
        out_(without_equations(graph)),
        free_(graph.avals.size(), nullptr),
        uses_(graph.avals.size(), 0) {}

  Graph run() {
    const Kinds kinds(g_);
    for (size_t k = 0; k < g_.equations.size(); ++k) {
      const Equation& e = g_.equations[k];
      for (const ValueId v : e.inputs) ++uses_[at(v)];
      if (kinds.free[k]) free_[at(e.outputs[0])] = &e;
    }
    for (size_t k = 0; k < g_.equations.size(); ++k) {
      Equation copy = g_.equations[k];
      if (kinds.fusible[k]) {
        for (ValueId& v : copy.inputs) {
          size_t most = kMostCopied;
          if (free_[at(v)] != nullptr && uses_[at(v)] >= 2) v = copied(v, most);
        }
      }
      out_.equations.push_back(std::move(copy));
    }
    return std::move(out_);
  }

 private:
  // A copy of a free value and of the free values that it is made of, `most` equations at most.
  ValueId copied(ValueId v, size_t& most) {
    if (most == 0 || free_[at(v)] == nullptr) return v;
    --most;
    Equation own = *free_[at(v)];
    for (ValueId& x : own.inputs) x = copied(x, most);
    own.outputs[0] = out_.add_value(g_.avals[at(v)]);
    const ValueId y = own.outputs[0];
    out_.equations.push_back(std::move(own));
    return y;
  }

  const Graph& g_;
  Graph out_;
  std::vector<const Equation*> free_;  // by value
  std::vector<int> uses_;              // by value
};

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : g_(graph), kinds_(graph), fusible_(kinds_.fusible), groups_(graph), regions_(graph, 1) {
    wanted_.assign(g_.avals.size(), false);
    for (const ValueId v : g_.outputs) wanted_[at(v)] = true;
    for (const Equation& e : g_.equations) uniform_.push_back(is_uniform(e));
  }

  Graph run() {
    merge_with_consumers([&](size_t k, size_t c) {
      return !is_full_reduction(g_.equations[k]) && !is_small_operand(k, c);
    });
    // What is small beside its consumers joins them if it is theirs alone.
    for (size_t k = g_.equations.size(); k-- > 0;) {
      const ValueId y = g_.equations[k].outputs[0];
      const auto& readers = groups_.consumers(y);
      if (!fusible_[k] || wanted_[at(y)] || readers.empty()) continue;
      const bool one = std::all_of(readers.begin(), readers.end(), [&](size_t c) {
        return groups_.of(c) == groups_.of(readers[0]);
      });
      if (one && !is_full_reduction(g_.equations[k])) merge(k, readers[0]);
    }
    // Groups that read the same large array.
    for (size_t v = 0; v < g_.avals.size(); ++v) {
      if (g_.avals[v].numel() <= kSmall) continue;
      const auto& readers = groups_.consumers(static_cast<ValueId>(v));
      for (size_t i = 1; i < readers.size(); ++i) merge(readers[i - 1], readers[i]);
    }
    merge_with_consumers([&](size_t k, size_t) { return is_full_reduction(g_.equations[k]); });
    // A concatenation joins the group that computes all of its operands.
    for (size_t k = 0; k < g_.equations.size(); ++k) {
      const Equation& e = g_.equations[k];
      if (e.primitive != &concatenate_p) continue;
      const size_t first = groups_.producer(e.inputs[0]);
      if (first < k) merge(first, k);
    }
    return rewritten();
  }

 private:
  // One element of a large array, such as a loss: it belongs to what else reads that array before
  // it belongs to what reads it.
  bool is_full_reduction(const Equation& e) const {
    return g_.avals[at(e.outputs[0])].numel() == 1 && !e.inputs.empty() &&
           g_.avals[at(e.inputs[0])].numel() > kSmall;
  }
  // True if a hands c a value that is small beside what c works on, as numbers that many groups
  // share.
  bool is_small_operand(size_t a, size_t c) const {
    return work(a) * kMuchLarger < work(c) && work(c) > kMuchLarger;
  }
  int64_t work(size_t k) const {
    const Equation& e = g_.equations[k];
    int64_t n = g_.avals[at(e.outputs[0])].numel();
    for (const ValueId v : e.inputs) n = std::max(n, g_.avals[at(v)].numel());
    return n;
  }

  // True if the operands and the result have one shape, scalars apart.
  bool is_uniform(const Equation& e) const {
    if (e.primitive->kind != PrimitiveKind::kElementwise) return false;
    const Aval& out = g_.avals[at(e.outputs[0])];
    return std::all_of(e.inputs.begin(), e.inputs.end(), [&](ValueId v) {
      return g_.avals[at(v)].numel() == 1 || g_.avals[at(v)].shape == out.shape;
    });
  }

  template <class Which>
  void merge_with_consumers(const Which& which) {
    for (size_t k = g_.equations.size(); k-- > 0;) {
      if (!fusible_[k]) continue;
      for (const size_t c : groups_.consumers(g_.equations[k].outputs[0])) {
        if (which(k, c)) merge(k, c);
      }
    }
  }

  void merge(size_t a, size_t b) {
    if (!fusible_[a] || !fusible_[b]) return;
    a = groups_.of(a);
    b = groups_.of(b);
    if (a == b) return;
    if (groups_.before(b, a)) std::swap(a, b);
    const auto &of_a = groups_.members(a), &of_b = groups_.members(b);
    if (of_a.size() + of_b.size() > kMostEquations || !groups_.can_merge(a, b)) return;
    std::vector<size_t> both;
    both.reserve(of_a.size() + of_b.size());
    std::merge(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(both));
    if (pays(both)) groups_.merge(a, b, std::move(both));
  }

  // True if all members are elementwise over one shape, scalars apart: one loop computes them.
  bool is_one_loop(const std::vector<size_t>& members) const {
    const Shape* shape = nullptr;
    for (const size_t m : members) {
      const Aval& out = g_.avals[at(g_.equations[m].outputs[0])];
      if (!uniform_[m] || (out.numel() > 1 && shape != nullptr && !(out.shape == *shape)))
        return false;
      if (out.numel() > 1) shape = &out.shape;
    }
    return true;
  }

  bool pays(const std::vector<size_t>& members) {
    const Regions::Boundary arrays = regions_.boundary(members);
    if (arrays.inputs.size() + arrays.outputs.size() > kMostArrays) return false;
    if (is_one_loop(members)) return true;
    const Graph b = regions_.body(members, arrays);
    const std::optional<fusion::Schedule> s = fusion::schedule_of(b);
    if (!s) return false;
    // A value that leaves must have its elements in memory anyway.
    for (const ValueId v : b.outputs) {
      if (s->depends(s->root_of(v)) != s->space.shape[at(v)] ||
          (s->phase_of_value(s->root_of(v)) < 0 && !s->space.has_parts(v)))
        return false;
    }
    int64_t largest = 0;
    for (const fusion::Phase& p : s->phases) largest = std::max(largest, s->space.numel(p.axes));
    int large = 0;
    for (const fusion::Phase& p : s->phases) {
      const int64_t n = s->space.numel(p.axes);
      if (n > kSmall && n * 4 > largest) ++large;
      const fusion::Phase rows = p.outside(), boxes = rows.outside();
      const int64_t length = s->space.numel(p.inner_set() | rows.inner_set());
      if (length < kShortest && n / length > kMostShortRuns &&
          (length * s->space.numel(boxes.inner_set()) < kShortest || !fusion::has_boxes(b, *s, p)))
        return false;
      if (rows.axes != 0 && s->space.in_pieces_along(p.inner(), kLongestInPieces)) return false;
    }
    return large <= 1;
  }

  Graph rewritten() {
    Graph out = without_equations(g_);
    for (const size_t group : groups_.order()) {
      const auto& members = groups_.members(group);
      const auto working = std::count_if(members.begin(), members.end(), [&](size_t m) {
        return !kinds_.free[m] && g_.equations[m].primitive != &reshape_p;
      });
      if (members.size() < 2 || working == 0) {
        for (const size_t m : members) out.equations.push_back(g_.equations[m]);
        continue;
      }
      // The copies of a free value that came together are one again.
      out.equations.push_back(regions_.equation(members, false));
    }
    return out;
  }

  const Graph& g_;
  const Kinds kinds_;
  const std::vector<bool>& fusible_;  // by equation
  Groups groups_;
  Regions regions_;
  std::vector<bool> uniform_;  // by equation
  std::vector<bool> wanted_;   // by value
};

}  // namespace

Graph fuse(Graph graph) {
  Graph apart = outermost_dead_code(FreeValuesApart(graph).run());
  for (Equation& e : apart.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, fuse);
  }
  return outermost_dead_code(outermost_common_subexpressions(Fuser(apart).run()));
}

}  // namespace spruce::passes
