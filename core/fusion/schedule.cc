// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/fusion/schedule.h"

#include <algorithm>

#include "spruce/core/graph/build.h"
#include "spruce/core/rules/shape.h"

namespace spruce::fusion {
namespace {

constexpr size_t kMostPhases = 64;
constexpr int64_t kLongRow = 65536;  // elements of a single row that are not kept until it ends

bool is_reduction(const Equation& e) { return e.primitive->kind == PrimitiveKind::kReduction; }

class Scheduler {
 public:
  Scheduler(const Graph& graph, Space space) : graph_(graph) {
    s_.space = std::move(space);
    s_.root.resize(graph.avals.size());
    for (size_t v = 0; v < s_.root.size(); ++v) s_.root[v] = static_cast<ValueId>(v);
    s_.producer.assign(graph.avals.size(), -1);
    s_.phase_of.assign(graph.equations.size(), -1);
    s_.cross_block.assign(graph.equations.size(), false);
  }

  std::optional<Schedule> run() {
    for (size_t n = 0; n < graph_.equations.size(); ++n) {
      if (!place(static_cast<int>(n))) return std::nullopt;
    }
    for (const ValueId v : graph_.outputs) {
      if (s_.space.pieces.count(s_.root_of(v)) != 0) return std::nullopt;
    }
    sort();
    return std::move(s_);
  }

 private:
  bool is_alias(int n) const {
    const Equation& e = graph_.equations[static_cast<size_t>(n)];
    return e.primitive == &broadcast_in_dim_p || e.primitive == &reshape_p ||
           (is_reduction(e) && s_.space.reduced[static_cast<size_t>(n)] == 0);
  }

  bool place(int n) {
    const Equation& e = graph_.equations[static_cast<size_t>(n)];
    const auto y = static_cast<size_t>(e.outputs[0]);
    if (is_alias(n)) {
      s_.root[y] = s_.root_of(e.inputs[0]);
      return true;
    }
    s_.producer[y] = n;
    if (e.primitive == &iota_p || only_moves(*e.primitive)) return true;

    const AxisSet reduced = s_.space.reduced[static_cast<size_t>(n)];
    const AxisSet axes = s_.space.depends[y] | reduced;
    uint64_t needs = 0, own = 0, finished = 0;
    for (const ValueId x : e.inputs) {
      const ValueId r = s_.root_of(x);
      const int p = s_.phase_of_value(r);
      if (p < 0) continue;
      needs |= uint64_t{1} << p;
      const bool cross_block =
          s_.cross_block[static_cast<size_t>(s_.producer[static_cast<size_t>(r)])];
      (cross_block ? finished : own) |= uint64_t{1} << p;
    }
    int to = -1;
    for (int p = static_cast<int>(s_.phases.size()) - 1; p >= 0 && to < 0; --p) {
      const Phase& phase = s_.phases[static_cast<size_t>(p)];
      const uint64_t bit = uint64_t{1} << p;
      const bool of_rows = axes == (phase.axes & ~phase.inner_set()) && (own & bit) != 0;
      if ((axes != phase.axes && !of_rows) || (finished & bit) != 0) continue;
      if (!waits_for(needs & ~bit, p)) to = p;
    }
    if (to < 0) {
      if (s_.phases.size() == kMostPhases) return false;
      to = static_cast<int>(s_.phases.size());
      s_.phases.push_back({axes, {}});
      before_.push_back(0);
    }
    join(n, to, needs);
    if (is_reduction(e)) {
      const Phase& phase = s_.phases[static_cast<size_t>(to)];
      const AxisSet inner = phase.inner_set();
      s_.cross_block[static_cast<size_t>(n)] =
          reduced != inner || (phase.axes == inner && s_.space.numel(inner) > kLongRow);
    }
    return true;
  }

  // True if one of these phases can only run after `p`.
  bool waits_for(uint64_t phases, int p) const {
    for (size_t q = 0; q < before_.size(); ++q) {
      if ((phases >> q & 1) != 0 && (before_[q] >> p & 1) != 0) return true;
    }
    return false;
  }

  void join(int n, int to, uint64_t needs) {
    s_.phases[static_cast<size_t>(to)].equations.push_back(n);
    s_.phase_of[static_cast<size_t>(n)] = to;
    const uint64_t bit = uint64_t{1} << to;
    needs &= ~bit;
    for (size_t q = 0; q < before_.size(); ++q) {
      if ((needs >> q & 1) != 0) needs |= before_[q];
    }
    before_[static_cast<size_t>(to)] |= needs;
    for (uint64_t& b : before_) {
      if ((b & bit) != 0) b |= needs;
    }
  }

  void sort() {
    std::vector<Phase> sorted;
    std::vector<int> renamed(s_.phases.size(), -1);
    uint64_t done = 0;
    while (sorted.size() < s_.phases.size()) {
      for (size_t p = 0; p < s_.phases.size(); ++p) {
        if (renamed[p] >= 0 || (before_[p] & ~done) != 0) continue;
        renamed[p] = static_cast<int>(sorted.size());
        sorted.push_back(std::move(s_.phases[p]));
        done |= uint64_t{1} << p;
        break;
      }
    }
    s_.phases = std::move(sorted);
    for (int& p : s_.phase_of) p = p < 0 ? p : renamed[static_cast<size_t>(p)];
  }

  const Graph& graph_;
  Schedule s_;
  std::vector<uint64_t> before_;  // by phase: the phases that must have ended
};

}  // namespace

std::optional<Schedule> schedule_of(const Graph& graph) {
  for (const Equation& e : graph.equations) {
    if (e.outputs.size() != 1 || !fusible(*e.primitive, e.params, types_of(graph, e.inputs),
                                          graph.avals[static_cast<size_t>(e.outputs[0])]))
      return std::nullopt;
  }
  std::optional<Space> space = space_of(graph);
  if (!space) return std::nullopt;
  return Scheduler(graph, std::move(*space)).run();
}

bool has_boxes(const Graph& g, const Schedule& s, const Phase& phase) {
  const Phase rows = phase.outside(), boxes = rows.outside();
  if (boxes.axes == 0) return false;
  const AxisSet box_axes = phase.inner_set() | rows.inner_set(), all = box_axes | boxes.inner_set();
  const auto fits = [&](ValueId v, bool computed) {
    if (s.space.pieces.count(v) != 0) return false;
    if ((s.depends(v) & all) != all) return !computed;
    return s.space.stride(v, rows.inner()) == s.space.numel(phase.inner_set()) &&
           s.space.stride(v, boxes.inner()) == s.space.numel(box_axes);
  };
  return std::all_of(phase.equations.begin(), phase.equations.end(), [&](int e) {
    const Equation& eq = g.equations[static_cast<size_t>(e)];
    return !is_reduction(eq) && fits(eq.outputs[0], true) &&
           std::all_of(eq.inputs.begin(), eq.inputs.end(),
                       [&](ValueId x) { return fits(s.root_of(x), false); });
  });
}

}  // namespace spruce::fusion
