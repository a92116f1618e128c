// SPDX-License-Identifier: Apache-2.0
// Gathers of single elements out of each array of a batch read one array, at indices that count
// through all of it: a form that compiled loops take. Exact.
#include <limits>

#include "spruce/core/fusion/space.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

// How many leading axes of the operand and of the indices are those of a batch of such gathers.
int leading_batch(const GatherParams& p) {
  const int axes = p.operand_batch_dims.rank();
  for (int i = 0; i < axes; ++i) {
    if (p.operand_batch_dims[i] != i || p.indices_batch_dims[i] != i) return 0;
  }
  const bool elements = p.clip && !p.wraps && p.offset_dims.empty() && p.window.numel() == 1 &&
                        p.window.rank() == axes + 1 && p.start_index_map == Axes{axes} &&
                        p.collapsed_dims == Axes{axes};
  return elements ? axes : 0;
}

ValueId flattened(Rewriter& r, const Equation& e) {
  if (e.primitive != &gather_p) return kNone;
  const int axes = leading_batch(e.params.get<GatherParams>());
  if (axes == 0) return kNone;
  const Aval x = r.aval(e.inputs[0]), indices = r.aval(e.inputs[1]);
  const int64_t all = x.numel(), each = x.shape[axes];
  const Aval flat{x.dtype, false, Shape{all}};
  const GatherParams p = rules::take_params(flat.shape, 0, indices.shape.rank() - 1);
  if (!fusion::reads_elements(p, flat, indices)) return kNone;
  Shape batch, beside = indices.shape;
  for (int i = 0; i < beside.rank(); ++i) {
    if (i < axes)
      batch.push_back(beside[i]);
    else
      beside[i] = 1;
  }
  const ValueId count =
      r.emit(iota_p, Params::make(IotaParams{Shape{batch.numel()}, Dtype::kInt32, 0}), {});
  const ValueId number = r.emit(reshape_p, Params::make(ReshapeParams{beside}), {count});
  const auto scalar = [&](int64_t n) {
    return r.add_scalar(Dtype::kInt32, static_cast<double>(n));
  };
  const ValueId first = r.emit(mul_p, {number, scalar(each)});
  const ValueId within = r.emit(clamp_p, {e.inputs[1], scalar(0), scalar(each - 1)});
  const ValueId at = r.emit(add_p, {within, first});
  const ValueId array = r.emit(reshape_p, Params::make(ReshapeParams{flat.shape}), {e.inputs[0]});
  return r.emit(gather_p, Params::make(p), {array, at});
}

}  // namespace

Graph flatten_gathers(Graph graph) { return rewrite(std::move(graph), flattened, flatten_gathers); }

}  // namespace spruce::passes
