// SPDX-License-Identifier: Apache-2.0
// A group of equations that runs as one. Made by the passes `fuse` and `tiny`, never by users.
#include <algorithm>

#include "spruce/core/cpu/fusion/fused_kernel.h"
#include "spruce/core/fusion/schedule.h"
#include "spruce/core/rules/group.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/workspace.h"

namespace spruce {

namespace {

using internal::at;

std::vector<Aval> fused_shapes(const ShapeArgs& a) {
  const GraphPtr& body = a.params.get<GroupParams>().body;
  if (body == nullptr) throw GraphError(std::string(a.op) + ": has no body");
  if (a.in.size() != body->inputs.size()) {
    throw ShapeError(std::string(a.op) + ": the body has " + std::to_string(body->inputs.size()) +
                     " inputs, " + std::to_string(a.in.size()) + " are given");
  }
  for (size_t i = 0; i < a.in.size(); ++i) {
    const Aval& want = body->avals[at(body->inputs[i])];
    if (want.dtype != a.in[i]->dtype || !(want.shape == a.in[i]->shape)) {
      throw ShapeError(std::string(a.op) + ": input " + std::to_string(i) + " is " +
                       to_string(*a.in[i]) + ", the body takes " + to_string(want));
    }
  }
  std::vector<Aval> out;
  for (const ValueId v : body->outputs) out.push_back(body->avals[at(v)]);
  return out;
}

std::vector<Array> fused_expand(std::span<const Array> in, const Params& params) {
  return internal::apply_graph(*params.get<GroupParams>().body, in);
}

std::unique_ptr<const PreparedKernel> fused_prepare(const PrepareArgs& a) {
  return cpu::fused_kernel(a.params.get<GroupParams>());
}

void fused_kernel(const KernelArgs& a) {
  const auto prepared = cpu::fused_kernel(a.params.get<GroupParams>());
  const cpu::Workspace workspace(prepared->workspace_bytes());
  prepared->run({a.in, a.out, a.params, workspace.data()});
}

// A value of a body: nobody reads it, its rows are computed, or all of it.
enum class State : uint8_t { kUnread, kRows, kWhole };

// By value, what the rows of the outputs need, going backward. None where a value is needed both
// ways.
std::optional<std::vector<State>> states_of(const Graph& body, int64_t all, int64_t rows) {
  std::vector<State> states(body.avals.size(), State::kUnread);
  for (const ValueId v : body.outputs) states[at(v)] = State::kRows;
  for (size_t n = body.equations.size(); n-- > 0;) {
    const Equation& e = body.equations[n];
    const State state = states[at(e.outputs[0])];
    if (state == State::kUnread) continue;
    std::vector<RowRead> reads(e.inputs.size(), RowRead::kWhole);
    if (state == State::kRows) {
      const rules::RowReads by_rows = rules::reads_of_rows(body, e, all, rows);
      if (!by_rows) return {};
      reads = *by_rows;
    }
    for (size_t i = 0; i < reads.size(); ++i) {
      const State needed = reads[i] == RowRead::kRows ? State::kRows : State::kWhole;
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

rules::RowReads fused_rows(const RowArgs& a) {
  const auto& group = a.params.get<GroupParams>();
  if (group.unrolled) return {};
  const Graph& body = *group.body;
  const std::optional<fusion::Schedule> schedule = fusion::schedule_of(body);
  if (!schedule) return {};
  const std::vector<bool>& cross_block = schedule->cross_block;
  if (std::find(cross_block.begin(), cross_block.end(), true) != cross_block.end()) return {};
  const auto states = states_of(body, a.all, a.rows);
  if (!states) return {};
  std::vector<RowRead> reads;
  for (const ValueId v : body.inputs)
    reads.push_back((*states)[at(v)] == State::kRows ? RowRead::kRows : RowRead::kWhole);
  return reads;
}

Params fused_row_params(const Params& params, int64_t rows) {
  const Graph& body = *params.get<GroupParams>().body;
  const auto states = states_of(body, body.avals[at(body.outputs[0])].shape[0], rows);
  auto out = std::make_shared<Graph>(body);
  for (Equation& e : out->equations) {
    if ((*states)[at(e.outputs[0])] == State::kRows) e.params = rules::params_for_rows(e, rows);
  }
  for (size_t v = 0; v < out->avals.size(); ++v) {
    if ((*states)[v] == State::kRows) out->avals[v].shape[0] = rows;
  }
  return Params::make(GroupParams{.body = std::move(out)});
}

}  // namespace

extern constinit const Primitive fused_p = {
    .name = "fused",
    .shapes = fused_shapes,
    .cpu = fused_kernel,
    .params = kParamsOf<GroupParams>,
    .kind = PrimitiveKind::kGroup,
    .expand = fused_expand,
    .prepare = fused_prepare,
    .rows = fused_rows,
    .row_params = fused_row_params,
};

}  // namespace spruce
