// SPDX-License-Identifier: Apache-2.0
// The gather, then the reduction.
#include "spruce/core/rules/gather_reduce.h"

#include "spruce/core/rules/reduce.h"
#include "spruce/cuda/codegen/sequence.h"

namespace spruce::cuda {
namespace {

Kernels make_gather_reduce(const PrepareArgs& a) {
  const auto& p = a.params.get<GatherReduceParams>();
  Graph g;
  for (const Aval* in : a.in) g.inputs.push_back(g.add_value(*in));
  const Params gather = Params::make(p.gather());
  const ValueId gathered = g.add_value(output_avals(gather_p, a.in, gather)[0]),
                reduced = g.add_value(*a.out[0]);
  g.equations.push_back({&gather_p, gather, g.inputs, {gathered}, {}});
  g.equations.push_back(
      {find_primitive(p.reduction), Params::make(ReduceParams{p.axes}), {gathered}, {reduced}, {}});
  g.outputs = {reduced};
  bool known = true;
  return sequence(a, g, known);
}

}  // namespace

extern const Twin gather_reduce_twin = {&gather_reduce_p, make_gather_reduce};

}  // namespace spruce::cuda
