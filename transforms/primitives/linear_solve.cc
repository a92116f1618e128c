// SPDX-License-Identifier: Apache-2.0
// The solution of linear equations, with the map and the ways to solve for it and its transpose as
// graphs.
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/rules/linear_solve_rules.h"

namespace spruce {
namespace {

bool takes(const GraphPtr& graph, Avals consts, Avals b) {
  const std::vector<Aval> types = internal::input_avals(*graph);
  if (types.size() != consts.size() + b.size() || graph->outputs.size() != b.size()) return false;
  for (size_t i = 0; i < types.size(); ++i) {
    const Aval& got = i < consts.size() ? *consts[i] : *b[i - consts.size()];
    if (types[i].dtype != got.dtype || !(types[i].shape == got.shape)) return false;
  }
  return true;
}

std::vector<Aval> linear_solve_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<LinearSolveParams>();
  const int64_t counts[] = {p.map_consts, p.solve_consts, p.transpose_consts};
  int64_t rest = static_cast<int64_t>(a.in.size());
  bool fits = p.map != nullptr && p.solve != nullptr &&
              (p.transpose_map == nullptr) == (p.transpose_solve == nullptr);
  for (const int64_t n : counts) {
    fits = fits && n >= 0 && n <= rest;
    rest -= n;
  }
  if (fits) {
    const auto m = static_cast<size_t>(counts[0]), s = static_cast<size_t>(counts[1]),
               t = static_cast<size_t>(counts[2]);
    const Avals b = a.in.subspan(m + s + t);
    fits = takes(p.map, a.in.first(m), b) && takes(p.solve, a.in.subspan(m, s), b);
    if (fits && p.transpose_solve != nullptr)
      fits = takes(p.transpose_map, a.in.first(m), b) &&
             takes(p.transpose_solve, a.in.subspan(m + s, t), b);
  }
  if (!fits) throw GraphError(std::string(a.op) + ": the inputs are not those of its graphs");
  return internal::output_avals(*p.solve);
}

std::vector<Array> linear_solve_run(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<LinearSolveParams>();
  const auto first = in.begin() + static_cast<ptrdiff_t>(p.map_consts);
  std::vector<Array> args(first, first + static_cast<ptrdiff_t>(p.solve_consts));
  args.insert(args.end(), first + static_cast<ptrdiff_t>(p.solve_consts + p.transpose_consts),
              in.end());
  return internal::apply_graph(*p.solve, args);
}

}  // namespace

extern constinit const Primitive linear_solve_p = {
    .name = "linear_solve",
    .shapes = linear_solve_shapes,
    .jvp = internal::jvp_of_linear_solve,
    .transpose = internal::transpose_of_linear_solve,
    .batch = internal::batch_of_linear_solve,
    .params = kParamsOf<LinearSolveParams>,
    .call = linear_solve_run,
};

}  // namespace spruce
