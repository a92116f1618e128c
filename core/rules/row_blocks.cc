// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/row_blocks.h"

#include "spruce/core/graph/build.h"
#include "spruce/core/rules/reduce.h"

namespace spruce::rules {
namespace {

// Inputs of fewer axes, or with one row, are the same for all rows.
RowReads elementwise(const RowArgs& a) {
  std::vector<RowRead> reads;
  for (const Aval* in : a.in) {
    const bool same = in->shape.rank() < a.out[0]->shape.rank() || in->shape[0] == 1;
    reads.push_back(same ? RowRead::kWhole : RowRead::kRows);
  }
  return reads;
}

RowReads reduction(const RowArgs& a) {
  if (a.params.get<ReduceParams>().axes.contains(0)) return {};
  return rows_alike(a);
}

}  // namespace

bool has_rows(const Aval& a, int64_t all) { return a.shape.rank() > 0 && a.shape[0] == all; }

RowReads rows_alike(const RowArgs& a) {
  for (const Aval* in : a.in) {
    if (!has_rows(*in, a.all)) return {};
  }
  return std::vector<RowRead>(a.in.size(), RowRead::kRows);
}

RowReads rows_of_last_axis(const RowArgs& a) {
  if (a.out[0]->shape.rank() < 2) return {};
  return rows_alike(a);
}

RowReads reads_of_rows(const Graph& graph, const Equation& e, int64_t all, int64_t rows) {
  const Primitive& p = *e.primitive;
  for (const ValueId v : e.outputs) {
    if (!has_rows(graph.avals[spruce::internal::at(v)], all)) return {};
  }
  const std::vector<const Aval*> in = types_of(graph, e.inputs), out = types_of(graph, e.outputs);
  const RowArgs args{in, out, e.params, all, rows};
  if (p.rows != nullptr) return p.rows(args);
  if (p.kind == PrimitiveKind::kElementwise && out.size() == 1) return elementwise(args);
  if (p.kind == PrimitiveKind::kReduction) return reduction(args);
  return {};
}

Params params_for_rows(const Equation& e, int64_t rows) {
  const Primitive& p = *e.primitive;
  return p.row_params == nullptr ? e.params : p.row_params(e.params, rows);
}

}  // namespace spruce::rules
