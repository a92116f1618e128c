// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/scatter_add_rows.h"

#include "spruce/cuda/codegen/scatter.h"

namespace spruce::cuda {
namespace {

Kernels make_scatter_add_rows(const PrepareArgs& a) {
  const auto& p = a.params.get<ScatterAddRowsParams>();
  const Shape &operand = a.in[0]->shape, &indices = a.in[1]->shape, &source = a.in[2]->shape;
  const Shape updates = p.updates(operand, indices);
  const IndexWindows to(p.scatter(operand, indices), operand, updates),
      from(p.gather(source, indices), source, updates);
  return scatter(a, to, &from, "sp::add");
}

}  // namespace

extern const Twin scatter_add_rows_twin = {&scatter_add_rows_p, make_scatter_add_rows};

}  // namespace spruce::cuda
