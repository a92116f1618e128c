// SPDX-License-Identifier: Apache-2.0
// Reductions of gathered rows, and sums of gathered or repeated rows by a scatter_add, read the
// rows where they stand. Exact.
#include <limits>

#include "spruce/core/rules/gather_reduce.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/scatter_add_rows.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

constexpr int64_t kShortestRow = 64;  // bytes: below, an index costs as much as its row

ValueId reduced(Rewriter& r, const Equation& e) {
  const ValueId x = e.inputs[0];
  const Equation* gather = r.source(x, gather_p);
  if (gather == nullptr || r.uses(x) > 1) return kNone;
  const auto& g = gather->params.get<GatherParams>();
  const Axes& axes = e.params.get<ReduceParams>().axes;
  if (!rules::reduces_rows(g, r.shape(gather->inputs[0]), r.shape(x), axes)) return kNone;
  return r.emit(gather_reduce_p, Params::make(GatherReduceParams::of(e.primitive->name, axes, g)),
                gather->inputs);
}

// The rows of `source` that a repetition of them has, as index vectors for those of its result;
// kNone unless the rows alone are repeated.
ValueId repeated_rows(Rewriter& r, const Equation& repeats, const Shape& indices) {
  const Shape &out = r.shape(repeats.outputs[0]), &source = r.shape(repeats.inputs[0]);
  const Axes& axes = repeats.params.get<BroadcastInDimParams>().broadcast_dimensions;
  const int rank = source.rank(), positions = indices.rank() - 1;
  if (rank == 0 || axes[0] >= positions || source[0] != out[axes[0]]) return kNone;
  if (source[0] > std::numeric_limits<int32_t>::max()) return kNone;
  if (rank != 1 + out.rank() - positions) return kNone;
  for (int i = 1; i < rank; ++i) {
    if (axes[i] != positions + i - 1 || source[i] != out[axes[i]]) return kNone;
  }
  return r.emit(iota_p, Params::make(IotaParams{indices, Dtype::kInt32, axes[0]}), {});
}

ValueId added(Rewriter& r, const Equation& e) {
  const ValueId operand = e.inputs[0], updates = e.inputs[2];
  const Shape& to = r.shape(operand);
  const Equation* rows = r.source(updates);
  if (rows == nullptr || r.uses(updates) > 1 || to.rank() == 0 || to[0] == 0) return kNone;
  if (to.numel() / to[0] * size_of(r.dtype(updates)) < kShortestRow) return kNone;
  const Shape indices = r.shape(e.inputs[1]);
  const auto& written = e.params.get<GatherParams>();
  ScatterAddRowsParams p{written.clip, written.wraps};
  if (!(e.params == Params::make(p.scatter(to, indices)))) return kNone;
  ValueId places = kNone;
  if (rows->primitive == &gather_p) {
    p.places_wrap = rows->params.get<GatherParams>().wraps;
    const Params wanted = Params::make(p.gather(r.shape(rows->inputs[0]), indices));
    if (rows->params == wanted && r.shape(rows->inputs[1]) == indices) places = rows->inputs[1];
  } else if (rows->primitive == &broadcast_in_dim_p) {
    places = repeated_rows(r, *rows, indices);
  }
  if (places == kNone) return kNone;
  return r.emit(scatter_add_rows_p, Params::make(p),
                {operand, e.inputs[1], rows->inputs[0], places});
}

ValueId joined(Rewriter& r, const Equation& e) {
  if (e.primitive->kind == PrimitiveKind::kReduction) return reduced(r, e);
  return e.primitive == &scatter_add_p ? added(r, e) : kNone;
}

}  // namespace

Graph gather_reductions(Graph graph) {
  return rewrite(std::move(graph), joined, gather_reductions);
}

}  // namespace spruce::passes
