// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/fusion/row_rules.h"

#include <algorithm>

#include "spruce/core/cpu/conv/conv.h"
#include "spruce/core/cpu/fusion/schedule.h"
#include "spruce/core/cpu/gemm/dot.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/rules/attention.h"
#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/fused.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/layer_norm.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/window.h"

namespace spruce {

extern const Primitive softmax_p, log_softmax_p, window_argmax_p, window_argmin_p, window_gather_p,
    window_scatter_add_p;

namespace passes {
namespace {

using Reads = std::optional<std::vector<Read>>;

// A value of a fused body: nobody reads it, its rows are computed, or all of it.
enum class State : uint8_t { kUnread, kRows, kWhole };
using States = std::optional<std::vector<State>>;  // by value

// What the rows of the outputs need, going backward. None where a value is needed both ways.
States states_of(const Graph& body, int64_t all, int64_t rows);

using internal::at;

bool has_rows(const Aval& a, int64_t all) { return a.shape.rank() > 0 && a.shape[0] == all; }

// True if the first axis of a gather's result, or of a scatter's updates, is that of the positions.
bool positions_are_rows(const GatherParams& p, const Aval& indices, const Aval& windows) {
  return indices.shape.rank() > 1 && !p.offset_dims.contains(0) &&
         indices.shape[0] == windows.shape[0];
}

class RowRule {
 public:
  RowRule(const Graph& graph, const Equation& e, int64_t all, int64_t rows)
      : g_(graph), e_(e), p_(*e.primitive), all_(all), rows_(rows) {}

  Reads reads() const {
    for (const ValueId v : e_.outputs) {
      if (!has_rows(g_.avals[at(v)], all_)) return {};
    }
    if (&p_ == &fused_p) return of_fused();
    if (e_.outputs.size() != 1) return {};
    if (p_.kind == PrimitiveKind::kElementwise) return elementwise();
    if (&p_ == &dot_general_p || &p_ == &dot_transposed_p) return of_product();
    if (&p_ == &conv_general_p) return of_convolution();
    if (&p_ == &broadcast_in_dim_p) return of_broadcast();
    if (&p_ == &gather_p) return of_gather();
    if (&p_ == &iota_p) return e_.params.get<IotaParams>().axis != 0 ? by_rows() : Reads{};
    return keeps_rows() ? by_rows() : Reads{};
  }

  cpu::Contraction contraction(const Aval& a, const Aval& b) const {
    if (&p_ == &dot_general_p) return {a, b, e_.params.get<DotParams>()};
    const auto& d = e_.params.get<DotTransposedParams>();
    return {a, b, d.dot(), d.perm};
  }

  const Aval& in(size_t i) const { return g_.avals[at(e_.inputs[i])]; }
  const Aval& out() const { return g_.avals[at(e_.outputs[0])]; }

 private:
  // The first input by rows, which it must have, the others too if all are alike.
  Reads by_rows() const {
    std::vector<Read> reads(e_.inputs.size(), Read::kRows);
    for (size_t i = 0; i < reads.size(); ++i) {
      if (&p_ == &layer_norm_p && i > 0)
        reads[i] = Read::kWhole;
      else if (!has_rows(in(i), all_))
        return {};
    }
    return reads;
  }

  // Inputs of fewer axes, or with one row, are the same for all rows.
  Reads elementwise() const {
    std::vector<Read> reads;
    for (size_t i = 0; i < e_.inputs.size(); ++i) {
      const bool same = in(i).shape.rank() < out().shape.rank() || in(i).shape[0] == 1;
      reads.push_back(same ? Read::kWhole : Read::kRows);
    }
    return reads;
  }

  Reads of_broadcast() const {
    const auto& p = e_.params.get<BroadcastInDimParams>();
    const bool rows =
        !p.broadcast_dimensions.empty() && p.broadcast_dimensions[0] == 0 && in(0).shape[0] == all_;
    return {{rows ? Read::kRows : Read::kWhole}};
  }

  // Positions by rows; those of a batch advance with the operand's.
  Reads of_gather() const {
    const auto& p = e_.params.get<GatherParams>();
    if (!positions_are_rows(p, in(1), out())) return {};
    if (!p.indices_batch_dims.contains(0)) return {{Read::kWhole, Read::kRows}};
    const bool first = p.indices_batch_dims[0] == 0 && p.operand_batch_dims[0] == 0;
    return first && has_rows(in(0), all_) ? Reads{{Read::kRows, Read::kRows}} : Reads{};
  }

  bool same_windows(const WindowParams& w) const {
    return w.window[0] == 1 && w.strides[0] == 1 && w.padding_low[0] == 0 &&
           w.padding_high[0] == 0 && w.base_dilation[0] == 1 && w.window_dilation[0] == 1;
  }

  // Primitives that leave the first axis alone.
  bool keeps_rows() const {
    if (p_.kind == PrimitiveKind::kReduction)
      return !e_.params.get<ReduceParams>().axes.contains(0);
    if (&p_ == &reshape_p) return out().numel() > 0;
    if (&p_ == &transpose_p) return e_.params.get<TransposeParams>().perm[0] == 0;
    if (&p_ == &concatenate_p) return e_.params.get<ConcatenateParams>().axis != 0;
    if (&p_ == &slice_p) return e_.params.get<SliceParams>().stride[0] == 1;
    if (&p_ == &softmax_p || &p_ == &log_softmax_p || &p_ == &layer_norm_p)
      return out().shape.rank() > 1;
    if (&p_ == &attention_p) return e_.inputs.size() == 3 && out().shape.rank() > 2;
    if (&p_ == &reduce_window_sum_p || &p_ == &reduce_window_max_p || &p_ == &reduce_window_min_p ||
        &p_ == &window_argmax_p || &p_ == &window_argmin_p)
      return same_windows(e_.params.get<WindowParams>());
    if (&p_ == &window_scatter_add_p)
      return same_windows(rules::windows_of(e_.params.get<WindowScatterParams>()));
    if (&p_ == &window_gather_p)
      return same_windows(rules::windows_of(e_.params.get<WindowGatherParams>()));
    return false;
  }

  // The first axis of the result is the first one of the left operand, summed with none, and
  // perhaps that of the right one too.
  Reads of_product() const {
    const bool transposes = &p_ == &dot_transposed_p;
    const DotParams d =
        transposes ? e_.params.get<DotTransposedParams>().dot() : e_.params.get<DotParams>();
    if (transposes && e_.params.get<DotTransposedParams>().perm[0] != 0) return {};
    if (!has_rows(in(0), all_) || d.lhs_contract.contains(0)) return {};
    const bool both = !d.lhs_batch.empty();
    if (both && (d.lhs_batch[0] != 0 || d.rhs_batch[0] != 0)) return {};
    const std::vector<Read> reads = {Read::kRows, both ? Read::kRows : Read::kWhole};
    Aval a = in(0), b = in(1);
    a.shape[0] = rows_;
    if (both) b.shape[0] = rows_;
    if (!cpu::same_bits(contraction(in(0), in(1)), contraction(a, b))) return {};
    return reads;
  }

  Reads of_convolution() const {
    const auto& p = e_.params.get<ConvParams>();
    if (out().dtype != Dtype::kFloat32 || p.lhs_swapped || p.out_swapped ||
        p.batch_group_count != 1)
      return {};
    Shape x = in(0).shape, y = out().shape;
    const cpu::Conv whole = cpu::make_conv(x, in(1).shape, y, p);
    x[0] = y[0] = rows_;
    if (!cpu::same_bits(whole, cpu::make_conv(x, in(1).shape, y, p))) return {};
    return {{Read::kRows, Read::kWhole}};
  }

  Reads of_fused() const {
    const Graph& body = *e_.params.get<FusedParams>().body;
    const std::optional<cpu::Schedule> schedule = cpu::schedule_of(body);
    if (!schedule) return {};
    if (std::find(schedule->cross_block.begin(), schedule->cross_block.end(), true) !=
        schedule->cross_block.end())
      return {};
    const States states = states_of(body, all_, rows_);
    if (!states) return {};
    std::vector<Read> reads;
    for (const ValueId v : body.inputs)
      reads.push_back((*states)[at(v)] == State::kRows ? Read::kRows : Read::kWhole);
    return reads;
  }

  const Graph& g_;
  const Equation& e_;
  const Primitive& p_;
  int64_t all_, rows_;
};

States states_of(const Graph& body, int64_t all, int64_t rows) {
  std::vector<State> states(body.avals.size(), State::kUnread);
  for (const ValueId v : body.outputs) states[at(v)] = State::kRows;
  for (size_t n = body.equations.size(); n-- > 0;) {
    const Equation& e = body.equations[n];
    const State state = states[at(e.outputs[0])];
    if (state == State::kUnread) continue;
    std::vector<Read> reads(e.inputs.size(), Read::kWhole);
    if (state == State::kRows) {
      const Reads by_rows = reads_of_rows(body, e, all, rows);
      if (!by_rows) return {};
      reads = *by_rows;
    }
    for (size_t i = 0; i < reads.size(); ++i) {
      const State needed = reads[i] == Read::kRows ? State::kRows : State::kWhole;
      State& is = states[at(e.inputs[i])];
      if (is != State::kUnread && is != needed) return {};
      is = needed;
    }
  }
  for (const Graph::Constant& c : body.constants) {
    if (states[at(c.id)] == State::kRows) return {};
  }
  return states;
}

// The body of a fused equation for some of its rows.
GraphPtr with_rows(const Graph& body, int64_t all, int64_t rows) {
  const States states = states_of(body, all, rows);
  auto out = std::make_shared<Graph>(body);
  for (Equation& e : out->equations) {
    if ((*states)[at(e.outputs[0])] == State::kRows) e.params = params_for_rows(e, rows);
  }
  for (size_t v = 0; v < out->avals.size(); ++v) {
    if ((*states)[v] == State::kRows) out->avals[v].shape[0] = rows;
  }
  return out;
}

}  // namespace

Reads reads_of_rows(const Graph& graph, const Equation& e, int64_t all, int64_t rows) {
  return RowRule(graph, e, all, rows).reads();
}

bool scatters_rows(const Graph& graph, const Equation& e, int64_t all) {
  const Primitive& p = *e.primitive;
  const bool sets = &p == &scatter_p || &p == &scatter_min_p || &p == &scatter_max_p;
  if (!sets && &p != &scatter_add_p && &p != &scatter_mul_p) return false;
  const auto& params = e.params.get<GatherParams>();
  const Aval &indices = graph.avals[at(e.inputs[1])], &updates = graph.avals[at(e.inputs[2])];
  // Sums and products of halves are rounded when all updates have been taken in.
  return (sets || !is_half(updates.dtype)) && params.indices_batch_dims.empty() &&
         has_rows(updates, all) && positions_are_rows(params, indices, updates);
}

Params params_for_rows(const Equation& e, int64_t rows) {
  const auto of_shape = [rows](auto p) {
    p.shape[0] = rows;
    return Params::make(std::move(p));
  };
  if (e.primitive == &broadcast_in_dim_p) return of_shape(e.params.get<BroadcastInDimParams>());
  if (e.primitive == &reshape_p) return of_shape(e.params.get<ReshapeParams>());
  if (e.primitive == &window_scatter_add_p) return of_shape(e.params.get<WindowScatterParams>());
  if (e.primitive == &iota_p) return of_shape(e.params.get<IotaParams>());
  if (e.primitive == &slice_p) {
    auto p = e.params.get<SliceParams>();
    p.limit[0] = rows;
    return Params::make(std::move(p));
  }
  if (e.primitive == &fused_p) {
    FusedParams p = e.params.get<FusedParams>();
    const int64_t all = p.body->avals[at(p.body->outputs[0])].shape[0];
    p.body = with_rows(*p.body, all, rows);
    return Params::make(std::move(p));
  }
  return e.params;
}

}  // namespace passes
}  // namespace spruce
