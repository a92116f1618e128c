// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/layout.h"

#include <set>
#include <utility>

#include "spruce/core/graph/donors.h"
#include "spruce/core/graph/memory_plan.h"

namespace spruce::cuda {
namespace {

constexpr size_t kAlign = 256;  // of libraries and of vector loads

using internal::at, internal::is_view;
size_t rounded(int64_t bytes) {
  return (static_cast<size_t>(bytes) + kAlign - 1) / kAlign * kAlign;
}

// The input whose memory each result takes over, or -1. `shown` is the value in whose memory each
// value stands.
std::vector<int64_t> donors_of(const Graph& g, const std::vector<EquationMemory>& equations,
                               const rules::Layouts& strided, const std::vector<ValueId>& shown,
                               const Layout& layout, size_t first_carried) {
  std::vector<int64_t> input_of(g.avals.size(), -1);
  for (size_t i = 0; i < g.inputs.size(); ++i) input_of[at(g.inputs[i])] = static_cast<int64_t>(i);
  std::vector<std::set<std::pair<size_t, size_t>>> allowed(g.equations.size());
  std::vector<int64_t> made_by(g.avals.size(), -1), output_of(g.avals.size(), -1);
  for (size_t n = 0; n < g.equations.size(); ++n) {
    if (!strided.runs(n)) continue;
    for (const InPlace& p : equations[n].in_place) allowed[n].emplace(p.input, p.output);
    for (size_t k = 0; k < g.equations[n].outputs.size(); ++k) {
      const ValueId v = g.equations[n].outputs[k], base = shown[at(v)];
      if (base == v) output_of[at(base)] = static_cast<int64_t>(k);
      if (base == v || made_by[at(base)] < 0) made_by[at(base)] = static_cast<int64_t>(n);
    }
  }
  internal::Donors donors(
      g, first_carried,
      [&](size_t n, size_t i) {
        if (!strided.runs(n)) return int64_t{-1};
        return input_of[at(shown[at(strided.input_base(g.equations[n], n, i))])];
      },
      [&](size_t n, size_t i, size_t k) {
        return strided.input(n, i) == nullptr && allowed[n].count({i, k}) > 0;
      });
  for (const size_t k : layout.copied_outputs) {
    const ValuePlace& place = layout.values[at(shown[at(g.outputs[k])])];
    if (place.where == ValuePlace::Where::kInput) donors.keep(place.index);
  }
  std::vector<internal::OwnResult> results;
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    const ValueId v = shown[at(g.outputs[k])];
    const ValuePlace& place = layout.values[at(v)];
    const int64_t bytes = g.avals[at(v)].bytes();
    if (place.where == ValuePlace::Where::kOutput && place.index == k && bytes > 0)
      results.push_back({k, bytes, made_by[at(v)], output_of[at(v)]});
  }
  donors.give_predecessors(results);
  donors.give_in_place(results);
  donors.give_dead(results);
  std::vector<int64_t> out;
  for (size_t k = 0; k < g.outputs.size(); ++k) out.push_back(donors.donor(k));
  return out;
}

}  // namespace

Layout make_layout(const Graph& g, const std::vector<EquationMemory>& equations,
                   const rules::Layouts& strided, size_t first_carried) {
  Layout layout;
  layout.values.resize(g.avals.size());
  // A view stands where the value that it shows does, and so does a result within another value.
  std::vector<ValueId> shown(g.avals.size());
  for (size_t v = 0; v < shown.size(); ++v) shown[v] = static_cast<ValueId>(v);
  for (const Equation& e : g.equations) {
    if (is_view(e)) shown[at(e.outputs[0])] = shown[at(e.inputs[0])];
    for (const ValueId v : e.outputs) {
      if (const rules::StridedPlace* p = strided.result(v)) shown[at(v)] = p->base;
    }
  }
  using Where = ValuePlace::Where;
  std::vector<ValuePlace>& places = layout.values;
  for (size_t i = 0; i < g.inputs.size(); ++i) places[at(g.inputs[i])] = {Where::kInput, i, 0};
  for (size_t i = 0; i < g.constants.size(); ++i)
    places[at(g.constants[i].id)] = {Where::kConstant, i, 0};
  // The first output that a computed value is stands in its own memory.
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    ValuePlace& place = places[at(shown[at(g.outputs[k])])];
    if (place.where == Where::kNone)
      place = {Where::kOutput, k, 0};
    else
      layout.copied_outputs.push_back(k);
  }
  layout.donors = donors_of(g, equations, strided, shown, layout, first_carried);
  std::vector<internal::Lifetime> lifetimes;
  std::vector<int64_t> lifetime_of(g.avals.size(), -1);
  for (size_t n = 0; n < g.equations.size(); ++n) {
    const Equation& e = g.equations[n];
    const auto step = static_cast<int32_t>(n);
    if (!strided.runs(n)) continue;
    for (size_t i = 0; i < e.inputs.size(); ++i) {
      const int64_t life = lifetime_of[at(shown[at(strided.input_base(g.equations[n], n, i))])];
      if (life >= 0) lifetimes[static_cast<size_t>(life)].last = step;
    }
    if (is_view(e)) continue;
    for (const ValueId result : e.outputs) {
      const ValueId v = shown[at(result)];
      if (places[at(v)].where != Where::kNone) continue;
      places[at(v)].where = Where::kArena;
      lifetime_of[at(v)] = static_cast<int64_t>(lifetimes.size());
      lifetimes.push_back({step, step, rounded(g.avals[at(v)].bytes())});
    }
  }
  const size_t values = lifetimes.size();
  for (size_t n = 0; n < g.equations.size(); ++n) {
    const auto step = static_cast<int32_t>(n);
    lifetimes.push_back({step, step, rounded(equations[n].workspace_bytes)});
  }
  const internal::MemoryPlan plan = internal::plan_memory(lifetimes);
  for (size_t v = 0; v < places.size(); ++v) {
    if (lifetime_of[v] >= 0) places[v].offset = plan.offsets[static_cast<size_t>(lifetime_of[v])];
  }
  for (size_t n = 0; n < g.equations.size(); ++n)
    layout.workspaces.push_back(plan.offsets[values + n]);
  for (size_t v = 0; v < places.size(); ++v) {
    if (places[v].where == Where::kNone) places[v] = places[at(shown[v])];
    if (const rules::StridedPlace* p = strided.result(static_cast<ValueId>(v)))
      places[v].offset += static_cast<size_t>(p->offset * size_of(g.avals[v].dtype));
  }
  layout.arena_bytes = plan.bytes;
  return layout;
}

}  // namespace spruce::cuda
