// SPDX-License-Identifier: Apache-2.0
// A gather or a scatter whose indices are moved into range first, `where(i < 0, i + n, i)`, does
// that itself as it reads them. Exact.
#include <typeinfo>

#include "spruce/core/fusion/space.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/passes/simplify/match.h"

namespace spruce::passes {
namespace {

// i of `v` = where(i < 0, i + n, i); kNone for any other value.
ValueId unwrapped(const Rewriter& r, ValueId v, int64_t n) {
  const Equation* select = r.source(v, select_p);
  if (select == nullptr) return kNone;
  const ValueId i = select->inputs[2];
  const Equation *negative = r.source(select->inputs[0], lt_p),
                 *sum = r.source(select->inputs[1], add_p);
  const bool moves = negative != nullptr && negative->inputs[0] == i &&
                     number(r, negative->inputs[1]) == 0.0 && sum != nullptr &&
                     sum->inputs[0] == i && number(r, sum->inputs[1]) == static_cast<double>(n);
  return moves && r.aval(i) == r.aval(v) ? i : kNone;
}

ValueId with_wrapped_indices(Rewriter& r, const Equation& e) {
  if (e.params.empty() || e.params.base()->type() != typeid(GatherParams)) return kNone;
  auto p = e.params.get<GatherParams>();
  const Aval x = r.aval(e.inputs[0]), indices = r.aval(e.inputs[1]);
  if (p.wraps || p.start_index_map.rank() != 1) return kNone;
  // Compiled loops take such a gather together with what computes its indices.
  if (e.primitive == &gather_p && fusion::reads_elements(p, x, indices)) return kNone;
  const int64_t n = x.shape[static_cast<int>(p.start_index_map[0])];
  ValueId index = unwrapped(r, e.inputs[1], n);
  if (index == kNone) {
    const Equation* shaped = r.source(e.inputs[1], reshape_p);
    if (shaped == nullptr) return kNone;
    index = unwrapped(r, shaped->inputs[0], n);
    if (index == kNone) return kNone;
    index = reshaped(r, index, indices.shape);
  }
  p.wraps = true;
  std::vector<ValueId> in = e.inputs;
  in[1] = index;
  return r.emit(*e.primitive, Params::make(p), std::move(in));
}

}  // namespace

Graph wrap_indices(Graph graph) {
  return rewrite(std::move(graph), with_wrapped_indices, wrap_indices);
}

}  // namespace spruce::passes
