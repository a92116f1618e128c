// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/plan/layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

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
    input_of_.assign(g.avals.size(), -1);
    for (size_t i = 0; i < g.inputs.size(); ++i)
      input_of_[at(g.inputs[i])] = static_cast<int64_t>(i);
    made_by_.assign(g.avals.size(), -1);
    for (size_t n = 0; n < g.equations.size(); ++n) {
      const auto step = static_cast<int64_t>(n);
      if (!strided.runs(n)) continue;
      for (size_t k = 0; k < g.equations[n].inputs.size(); ++k) {
        const int64_t i = input_of_[at(shown[at(strided.input_base(g.equations[n], n, k))])];
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
    for (const size_t k : open_) {
      const size_t i = first_carried + k;
      if (i < g_.inputs.size() && !taken_[i] && (dead(i, k) || read_in_place(i, k))) give(k, i);
    }
    for (const size_t k : open_) {
      if (donors_[k] < 0) give_what_it_reads(k);
    }
    give_dead_inputs();
    return donors_;
  }

 private:
  // The inputs that an equation reads last, and what it may write in their place.
  struct Reads {
    std::map<size_t, std::vector<size_t>> operands;  // by input
    std::set<std::pair<size_t, size_t>> in_place;    // operand and output
    size_t pairs_left = size_t{1} << 20;  // to look at, before only successors are donors
  };

  void give(size_t k, size_t i) {
    donors_[k] = static_cast<int64_t>(i);
    taken_[i] = true;
  }

  int64_t made_by(size_t k) const { return made_by_[at(shown_[at(g_.outputs[k])])]; }
  bool same_bytes(size_t i, size_t k) const {
    return g_.avals[at(g_.inputs[i])].bytes() == g_.avals[at(shown_[at(g_.outputs[k])])].bytes();
  }
  bool dead(size_t i, size_t k) const { return last_use_[i] < made_by(k) && same_bytes(i, k); }

  Reads& reads_of(int64_t step) {
    const auto [found, is_new] = reads_.try_emplace(step);
    Reads& r = found->second;
    if (!is_new) return r;
    const auto n = static_cast<size_t>(step);
    const Equation& e = g_.equations[n];
    for (size_t operand = 0; operand < e.inputs.size(); ++operand) {
      const int64_t i = input_of_[at(shown_[at(strided_.input_base(e, n, operand))])];
      if (i >= 0 && last_use_[static_cast<size_t>(i)] == step)
        r.operands[static_cast<size_t>(i)].push_back(operand);
    }
    for (const InPlace& p : equations_[n].in_place) r.in_place.emplace(p.input, p.output);
    return r;
  }

  // Result k is written over input i by the equation that reads it last.
  bool read_in_place(size_t i, size_t k) {
    const int64_t step = made_by(k);
    if (step < 0 || last_use_[i] != step || !same_bytes(i, k)) return false;
    const auto n = static_cast<size_t>(step);
    const std::vector<ValueId>& outputs = g_.equations[n].outputs;
    const auto output = std::find(outputs.begin(), outputs.end(), shown_[at(g_.outputs[k])]);
    if (output == outputs.end()) return false;
    const Reads& r = reads_of(step);
    const std::vector<size_t>& operands = r.operands.at(i);
    return std::all_of(operands.begin(), operands.end(), [&](size_t operand) {
      return strided_.input(n, operand) == nullptr &&
             r.in_place.count({operand, static_cast<size_t>(output - outputs.begin())}) > 0;
    });
  }

  void give_what_it_reads(size_t k) {
    if (made_by(k) < 0) return;
    Reads& r = reads_of(made_by(k));
    for (auto o = r.operands.begin(); o != r.operands.end() && r.pairs_left > 0; --r.pairs_left) {
      if (taken_[o->first]) {
        o = r.operands.erase(o);
      } else if (read_in_place(o->first, k)) {
        give(k, o->first);
        return;
      } else {
        ++o;
      }
    }
  }

  void give_dead_inputs() {
    std::vector<size_t> inputs(taken_.size());
    std::iota(inputs.begin(), inputs.end(), size_t{0});
    std::erase_if(inputs, [&](size_t i) { return taken_[i]; });
    const auto dies_first = [&](size_t i, size_t j) { return last_use_[i] < last_use_[j]; };
    std::stable_sort(inputs.begin(), inputs.end(), dies_first);
    std::vector<size_t> results = open_;
    std::erase_if(results, [&](size_t k) { return donors_[k] >= 0; });
    const auto made_first = [&](size_t k, size_t l) { return made_by(k) < made_by(l); };
    std::stable_sort(results.begin(), results.end(), made_first);
    std::multimap<int64_t, size_t> free;  // by bytes
    auto next = inputs.begin();
    for (const size_t k : results) {
      for (; next != inputs.end() && last_use_[*next] < made_by(k); ++next)
        free.emplace(g_.avals[at(g_.inputs[*next])].bytes(), *next);
      const auto found = free.find(g_.avals[at(shown_[at(g_.outputs[k])])].bytes());
      if (found == free.end()) continue;
      give(k, found->second);
      free.erase(found);
    }
  }

  const Graph& g_;
  const std::vector<EquationMemory>& equations_;
  const rules::Layouts& strided_;
  const std::vector<ValueId>& shown_;
  std::vector<int64_t> input_of_;   // by value: which input it is, or -1
  std::vector<int64_t> last_use_;   // by input: the last equation that reads it
  std::vector<int64_t> made_by_;    // by value
  std::map<int64_t, Reads> reads_;  // by equation
  std::vector<bool> taken_;         // by input
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
