// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/layout.h"

#include <algorithm>

#include "spruce/core/graph/memory_plan.h"

namespace spruce::cuda {
namespace {

constexpr size_t kAlign = 256;  // of libraries and of vector loads

using internal::at, internal::is_view;
size_t rounded(int64_t bytes) {
  return (static_cast<size_t>(bytes) + kAlign - 1) / kAlign * kAlign;
}

// Which results may take over the memory of which inputs.
class Donors {
 public:
  Donors(const Graph& g, const std::vector<EquationMemory>& equations,
         const rules::Layouts& strided, const std::vector<ValueId>& shown, const Layout& layout)
      : g_(g),
        equations_(equations),
        strided_(strided),
        shown_(shown),
        taken_(g.inputs.size(), false) {
    for (const size_t k : layout.copied_outputs) {
      const ValuePlace& place = layout.values[at(shown[at(g.outputs[k])])];
      if (place.where == ValuePlace::Where::kInput) taken_[place.index] = true;
    }
    last_use_.assign(g.inputs.size(), -1);
    std::vector<int64_t> input_of(g.avals.size(), -1);
    for (size_t i = 0; i < g.inputs.size(); ++i)
      input_of[at(g.inputs[i])] = static_cast<int64_t>(i);
    made_by_.assign(g.avals.size(), -1);
    for (size_t n = 0; n < g.equations.size(); ++n) {
      const auto step = static_cast<int64_t>(n);
      if (!strided.runs(n)) continue;
      for (size_t k = 0; k < g.equations[n].inputs.size(); ++k) {
        const int64_t i = input_of[at(shown[at(strided.input_base(g.equations[n], n, k))])];
        if (i >= 0) last_use_[static_cast<size_t>(i)] = step;
      }
      for (const ValueId v : g.equations[n].outputs) {
        int64_t& made_by = made_by_[at(shown[at(v)])];
        if (made_by < 0 || shown[at(v)] == v) made_by = step;
      }
    }
    donors_.assign(g.outputs.size(), -1);
    for (size_t k = 0; k < g.outputs.size(); ++k) {
      const ValuePlace& place = layout.values[at(shown[at(g.outputs[k])])];
      const bool own = place.where == ValuePlace::Where::kOutput && place.index == k;
      if (own && g.avals[at(g.outputs[k])].bytes() > 0) open_.push_back(k);
    }
  }

  // A state that is passed through its step stands among the results where it does among the
  // arguments: then each leaf keeps its memory. What the same kernel reads comes before inputs of
  // which nothing is needed any more, which others can take too.
  std::vector<int64_t> choose(size_t first_carried) {
    for (const bool same_place : {true, false}) {
      for (const bool in_place : {true, false}) {
        for (const size_t k : open_) {
          for (size_t i = 0; donors_[k] < 0 && i < g_.inputs.size(); ++i) {
            if ((same_place && i != first_carried + k) || taken_[i] || !fits(i, k, in_place))
              continue;
            donors_[k] = static_cast<int64_t>(i);
            taken_[i] = true;
          }
        }
      }
    }
    return donors_;
  }

 private:
  bool fits(size_t i, size_t k, bool in_place) const {
    const ValueId result = shown_[at(g_.outputs[k])];
    if (g_.avals[at(g_.inputs[i])].bytes() != g_.avals[at(result)].bytes()) return false;
    const int64_t n = made_by_[at(result)];
    if (last_use_[i] != n) return !in_place && last_use_[i] < n;
    const Equation& e = g_.equations[static_cast<size_t>(n)];
    if (std::find(e.outputs.begin(), e.outputs.end(), result) == e.outputs.end()) return false;
    const std::vector<InPlace>& allowed = equations_[static_cast<size_t>(n)].in_place;
    for (size_t input = 0; input < e.inputs.size(); ++input) {
      if (shown_[at(strided_.input_base(e, static_cast<size_t>(n), input))] != g_.inputs[i])
        continue;
      if (strided_.input(static_cast<size_t>(n), input) != nullptr) return false;
      const bool found = std::any_of(allowed.begin(), allowed.end(), [&](const InPlace& p) {
        return p.input == input && e.outputs[p.output] == result;
      });
      if (!found) return false;
    }
    return in_place;
  }

  const Graph& g_;
  const std::vector<EquationMemory>& equations_;
  const rules::Layouts& strided_;
  const std::vector<ValueId>& shown_;
  std::vector<int64_t> last_use_;  // by input: the last equation that reads it
  std::vector<int64_t> made_by_;   // by value
  std::vector<bool> taken_;        // by input
  std::vector<int64_t> donors_;
  std::vector<size_t> open_;  // outputs with memory of their own
};

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
  layout.donors = Donors(g, equations, strided, shown, layout).choose(first_carried);
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
