// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/layout.h"

#include <limits>

#include "spruce/core/graph/memory_plan.h"

namespace spruce::cuda {
namespace {

constexpr size_t kAlign = 256;  // of libraries and of vector loads

size_t at(ValueId v) { return static_cast<size_t>(v); }
bool is_view(const Equation& e) { return e.primitive->kind == PrimitiveKind::kView; }
size_t rounded(int64_t bytes) {
  return (static_cast<size_t>(bytes) + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

Layout make_layout(const Graph& g, const std::vector<int64_t>& workspace_bytes) {
  Layout layout;
  layout.values.resize(g.avals.size());
  // A view stands where the value that it shows does.
  std::vector<ValueId> shown(g.avals.size());
  for (size_t v = 0; v < shown.size(); ++v) shown[v] = static_cast<ValueId>(v);
  for (const Equation& e : g.equations) {
    if (is_view(e)) shown[at(e.outputs[0])] = shown[at(e.inputs[0])];
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
  std::vector<internal::Lifetime> lifetimes;
  std::vector<int64_t> lifetime_of(g.avals.size(), -1);
  for (size_t n = 0; n < g.equations.size(); ++n) {
    const Equation& e = g.equations[n];
    const auto step = static_cast<int32_t>(n);
    for (const ValueId v : e.inputs) {
      const int64_t life = lifetime_of[at(shown[at(v)])];
      if (life >= 0) lifetimes[static_cast<size_t>(life)].last = step;
    }
    if (is_view(e)) continue;
    for (const ValueId v : e.outputs) {
      if (places[at(v)].where != Where::kNone) continue;
      places[at(v)].where = Where::kArena;
      lifetime_of[at(v)] = static_cast<int64_t>(lifetimes.size());
      lifetimes.push_back({step, step, rounded(g.avals[at(v)].bytes())});
    }
  }
  const size_t values = lifetimes.size();
  for (size_t n = 0; n < g.equations.size(); ++n) {
    const auto step = static_cast<int32_t>(n);
    lifetimes.push_back({step, step, rounded(workspace_bytes[n])});
  }
  const internal::MemoryPlan plan = internal::plan_memory(lifetimes);
  for (size_t v = 0; v < places.size(); ++v) {
    if (lifetime_of[v] >= 0) places[v].offset = plan.offsets[static_cast<size_t>(lifetime_of[v])];
  }
  for (size_t n = 0; n < g.equations.size(); ++n)
    layout.workspaces.push_back(plan.offsets[values + n]);
  for (size_t v = 0; v < places.size(); ++v) {
    if (places[v].where == Where::kNone) places[v] = places[at(shown[v])];
  }
  layout.arena_bytes = plan.bytes;
  return layout;
}

}  // namespace spruce::cuda
