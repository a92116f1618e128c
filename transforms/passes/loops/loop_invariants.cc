// SPDX-License-Identifier: Apache-2.0
// What a scan does at each step and need not: work on constants alone moves in front of it,
// products of few rows of xs with constants become one product of many rows, and sums of products
// over all steps, such as the derivative of weights, become one product behind it. Constant
// matrices are laid out as products read them fastest. The order of summation changes.
#include <algorithm>
#include <map>

#include "spruce/core/graph/build.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/loops/hoist.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::passes {
namespace {

constexpr int64_t kFewRows = 16;  // of a product that gains from having more
constexpr int64_t kTurnRows = 8;  // of a product, from which constants are best read row by row
constexpr int64_t kTurnSteps = 8;

using internal::at;

Axes behind_steps(const Axes& axes) { return rules::shifted(axes); }

// One scan on its way to a better one.
class Loop {
 public:
  // `out` is the graph around, which already holds the inputs of `e`.
  Loop(Graph& out, const Equation& e)
      : out_(out), e_(e), p_(e.params.get<ScanParams>()), g_(*p_.body) {
    const auto consts = static_cast<size_t>(p_.consts), carry = static_cast<size_t>(p_.carry);
    const auto first_x = g_.inputs.begin() + static_cast<ptrdiff_t>(consts + carry);
    consts_.assign(g_.inputs.begin(), g_.inputs.begin() + static_cast<ptrdiff_t>(consts));
    carry_.assign(g_.inputs.begin() + static_cast<ptrdiff_t>(consts), first_x);
    xs_.assign(first_x, g_.inputs.end());
    outer_.assign(g_.avals.size(), kNone);
    for (size_t i = 0; i < g_.inputs.size(); ++i) outer_[at(g_.inputs[i])] = e.inputs[i];
    next_.assign(g_.outputs.begin(), g_.outputs.begin() + static_cast<ptrdiff_t>(carry));
    stacked_.assign(g_.outputs.begin() + static_cast<ptrdiff_t>(carry), g_.outputs.end());
    results_ = e.outputs;
    look();
  }

  // The equations that take the place of the scan; `renamed` gets what stands for its outputs.
  void rewrite(std::vector<ValueId>& renamed) {
    if (p_.length > 1) {
      hoist();
      sink_reductions(dot_general_p);
      sink_reductions(reduce_sum_p);
      pretranspose_constants();
    }
    Equation scan = e_;
    Graph body = finished(scan);
    ScanParams p = p_;
    p.consts = static_cast<int64_t>(consts_.size());
    p.carry = static_cast<int64_t>(carry_.size());
    p.body = std::make_shared<const Graph>(std::move(body));
    scan.params = Params::make(std::move(p));
    out_.equations.push_back(std::move(scan));
    for (const Sum& s : sums_) renamed[at(s.result)] = total(s);
  }

 private:
  // What a value of the body depends on.
  enum Level : uint8_t { kConstant, kSlice, kStep };
  // A carry that gathers `value`, which `by` computes.
  struct Sum {
    ValueId result, start;
    const Equation* by;
    std::vector<ValueId> operands;  // of all steps
  };

  void look() {
    level_.assign(g_.avals.size(), kConstant);
    uses_.assign(g_.avals.size(), 0);
    source_.assign(g_.avals.size(), nullptr);
    for (const ValueId v : carry_) level_[at(v)] = kStep;
    for (const ValueId v : xs_) level_[at(v)] = kSlice;
    for (const Equation& e : g_.equations) {
      Level level = kConstant;
      for (const ValueId v : e.inputs) {
        level = std::max(level, level_[at(v)]);
        ++uses_[at(v)];
      }
      for (const ValueId v : e.outputs) {
        level_[at(v)] = level;
        source_[at(v)] = &e;
      }
    }
    for (const ValueId v : g_.outputs) ++uses_[at(v)];
  }

  bool is_slice(ValueId v) const { return std::find(xs_.begin(), xs_.end(), v) != xs_.end(); }

  ValueId emit(const Primitive& p, Params params, std::vector<ValueId> in) {
    return spruce::emit(out_, p, std::move(params), std::move(in), e_.place);
  }

  bool few_rows(const Equation& e) const {
    if (e.primitive != &dot_general_p || !is_slice(e.inputs[0]) ||
        level_[at(e.inputs[1])] != kConstant)
      return false;
    const auto& d = e.params.get<DotParams>();
    if (!d.lhs_batch.empty()) return false;
    int64_t rows = g_.avals[at(e.inputs[0])].numel();
    for (const int64_t i : d.lhs_contract)
      rows /= std::max<int64_t>(1, g_.avals[at(e.inputs[0])].shape[static_cast<int>(i)]);
    return rows < kFewRows;
  }

  void hoist() {
    std::vector<uint8_t> wanted(g_.avals.size(), 0);
    std::vector<ValueId> constants;
    std::vector<const Equation*> products;
    for (const Equation& e : g_.equations) {
      if (level_[at(e.outputs[0])] == kConstant && !is_free_in_loops(e)) {
        for (const ValueId v : e.outputs) constants.push_back(v);
      } else if (few_rows(e)) {
        products.push_back(&e);
        wanted[at(e.inputs[1])] = 1;
      }
    }
    for (const ValueId v : constants) wanted[at(v)] = 1;
    move_out(out_, g_, std::move(wanted), outer_);
    consts_.insert(consts_.end(), constants.begin(), constants.end());
    for (const Equation* e : products) {
      DotParams d = e->params.get<DotParams>();
      d.lhs_contract = behind_steps(d.lhs_contract);
      const ValueId v = e->outputs[0];
      outer_[at(v)] =
          emit(dot_general_p, dot_params(d), {outer_[at(e->inputs[0])], outer_[at(e->inputs[1])]});
      xs_.push_back(v);
    }
  }

  // How often a sum over the steps uses v.
  int64_t gathers(ValueId v) const {
    int64_t n = 0;
    for (size_t k = 0; k < carry_.size(); ++k) n += gathered(k) == v ? 1 : 0;
    return n;
  }
  // What carry k gathers, if that is all it does; else kNone.
  ValueId gathered(size_t k) const {
    const ValueId start = carry_[k], next = next_[k];
    const Equation* e = source_[at(next)];
    if (e == nullptr || e->primitive != &add_p || uses_[at(start)] != 1 || uses_[at(next)] != 1)
      return kNone;
    const Aval& type = g_.avals[at(next)];
    if (type.dtype != Dtype::kFloat32 && type.dtype != Dtype::kFloat64) return kNone;
    if (e->inputs[0] != start && e->inputs[1] != start) return kNone;
    const ValueId v = e->inputs[0] == start ? e->inputs[1] : e->inputs[0];
    return v != start && g_.avals[at(v)] == type ? v : kNone;
  }

  // The values that v has in all steps: an input or output of the loop. Kept as kNone where the
  // loop does not stack them yet.
  ValueId all_steps(ValueId v) const {
    if (is_slice(v)) return outer_[at(v)];
    const auto it = std::find(stacked_.begin(), stacked_.end(), v);
    if (it == stacked_.end()) return kNone;
    return results_[carry_.size() + static_cast<size_t>(it - stacked_.begin())];
  }
  ValueId stack(ValueId v) {
    if (const ValueId all = all_steps(v); all != kNone) return all;
    Aval type = g_.avals[at(v)];
    type.shape.insert(0, p_.length);
    stacked_.push_back(v);
    results_.push_back(out_.add_value(type));
    return results_.back();
  }

  void sink_reductions(const Primitive& by) {
    for (size_t k = carry_.size(); k-- > 0;) {
      const ValueId v = gathered(k);
      const Equation* e = v == kNone ? nullptr : source_[at(v)];
      if (e == nullptr || e->primitive != &by || uses_[at(v)] != gathers(v)) continue;
      if (&by == &dot_general_p && !e->params.get<DotParams>().lhs_batch.empty()) continue;
      int64_t more = 0;
      bool varies = true;
      for (const ValueId x : e->inputs) {
        varies = varies && level_[at(x)] != kConstant;
        if (all_steps(x) == kNone) more += g_.avals[at(x)].numel();
      }
      // What is kept of each step must not outweigh the sum.
      if (!varies || more > 2 * g_.avals[at(v)].numel()) continue;
      Sum s{results_[k], outer_[at(carry_[k])], e, {}};
      for (const ValueId x : e->inputs) s.operands.push_back(stack(x));
      sums_.push_back(s);
      --uses_[at(v)];
      carry_.erase(carry_.begin() + static_cast<ptrdiff_t>(k));
      next_.erase(next_.begin() + static_cast<ptrdiff_t>(k));
      results_.erase(results_.begin() + static_cast<ptrdiff_t>(k));
    }
  }

  // Behind the loop.
  ValueId total(const Sum& s) {
    ValueId all = kNone;
    if (s.by->primitive == &dot_general_p) {
      DotParams d = s.by->params.get<DotParams>();
      d.lhs_contract = behind_steps(d.lhs_contract);
      d.rhs_contract = behind_steps(d.rhs_contract);
      d.lhs_contract.insert(0, 0);
      d.rhs_contract.insert(0, 0);
      all = emit(dot_general_p, dot_params(d), s.operands);
    } else {
      Axes axes = behind_steps(s.by->params.get<ReduceParams>().axes);
      axes.insert(0, 0);
      all = emit(reduce_sum_p, Params::make(ReduceParams{axes}), s.operands);
    }
    return emit(add_p, {}, {s.start, all});
  }

  // Whether e multiplies rows with a constant matrix whose rows it sums over.
  bool reads_columns(const Equation& e) const {
    if (e.primitive != &dot_general_p) return false;
    const auto& d = e.params.get<DotParams>();
    const Aval &x = g_.avals[at(e.inputs[0])], &w = g_.avals[at(e.inputs[1])];
    return level_[at(e.inputs[0])] == kStep && level_[at(e.inputs[1])] == kConstant &&
           outer_[at(e.inputs[1])] != kNone && w.shape.rank() == 2 &&
           (w.dtype == Dtype::kFloat32 || w.dtype == Dtype::kFloat64) &&
           d.rhs_contract == Axes{1} && d.rhs_batch.empty() &&
           x.numel() >= kTurnRows * std::max<int64_t>(1, w.shape[1]);
  }

  // Such matrices are transposed once, in front of the loop.
  void pretranspose_constants() {
    if (p_.length < kTurnSteps) return;
    for (const Equation& e : g_.equations) {
      const ValueId w = e.inputs.size() == 2 ? e.inputs[1] : kNone;
      if (w == kNone || !reads_columns(e) || turned_.contains(w)) continue;
      outer_.push_back(emit(transpose_p, Params::make(TransposeParams{{1, 0}}), {outer_[at(w)]}));
      const auto v = static_cast<ValueId>(outer_.size() - 1);
      turned_.emplace(w, v);
      consts_.push_back(v);
    }
  }

  // The body of what is left; inputs that it does not use go.
  Graph finished(Equation& scan) {
    Graph body = g_;
    for (size_t v = g_.avals.size(); v < outer_.size(); ++v)
      body.add_value(out_.avals[at(outer_[v])]);
    std::vector<uint8_t> given(body.avals.size(), 0);
    for (const auto* list : {&consts_, &carry_, &xs_}) {
      for (const ValueId v : *list) given[at(v)] = 1;
    }
    body.equations.clear();
    for (const Equation& e : g_.equations) {
      if (given[at(e.outputs[0])] != 0) continue;
      body.equations.push_back(e);
      if (turned_.empty() || !reads_columns(e)) continue;
      DotParams d = e.params.get<DotParams>();
      d.rhs_contract = {0};
      body.equations.back().params = dot_params(d);
      body.equations.back().inputs[1] = turned_.at(e.inputs[1]);
    }
    body.outputs = next_;
    body.outputs.insert(body.outputs.end(), stacked_.begin(), stacked_.end());

    std::vector<uint8_t> used(body.avals.size(), 0);
    for (const ValueId v : body.outputs) used[at(v)] = 1;
    for (size_t n = body.equations.size(); n-- > 0;) {
      const Equation& e = body.equations[n];
      if (std::none_of(e.outputs.begin(), e.outputs.end(), [&](ValueId v) { return used[at(v)]; }))
        continue;
      for (const ValueId v : e.inputs) used[at(v)] = 1;
    }
    const auto drop = [&](std::vector<ValueId>& list) {
      list.erase(std::remove_if(list.begin(), list.end(), [&](ValueId v) { return !used[at(v)]; }),
                 list.end());
    };
    drop(consts_);
    drop(xs_);
    body.inputs.clear();
    scan.inputs.clear();
    for (const auto* list : {&consts_, &carry_, &xs_}) {
      for (const ValueId v : *list) {
        body.inputs.push_back(v);
        scan.inputs.push_back(outer_[at(v)]);
      }
    }
    scan.outputs = results_;
    return outermost_dead_code(body);
  }

  Graph& out_;
  const Equation& e_;
  const ScanParams p_;
  const Graph& g_;
  std::vector<ValueId> consts_, carry_, xs_;  // inputs of the body
  std::vector<ValueId> next_, stacked_;       // outputs of the body
  std::vector<ValueId> results_;              // outputs of the loop
  std::vector<ValueId> outer_;                // by value of the body: what it is outside
  std::vector<Level> level_;
  std::vector<int64_t> uses_;
  std::vector<const Equation*> source_;
  std::vector<Sum> sums_;
  std::map<ValueId, ValueId> turned_;  // by constant: its transpose
};

}  // namespace

Graph loop_invariants(Graph graph) {
  if (!has_bodies(graph)) return graph;
  return rebuild(std::move(graph), [](Graph& out, Equation e, std::vector<ValueId>& renamed) {
    if (has_bodies(e)) e.params = map_graphs(e.params, loop_invariants);
    if (e.primitive == &scan_p && !has_effect(e))
      Loop(out, e).rewrite(renamed);
    else
      out.equations.push_back(std::move(e));
  });
}

}  // namespace spruce::passes
