// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/rules/linear_solve_rules.h"

#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/implicit/tangents.h"

namespace spruce::internal {
namespace {

// Where the parts of the inputs begin.
struct Layout {
  explicit Layout(const LinearSolveParams& p)
      : map(static_cast<size_t>(p.map_consts)),
        solve(map + static_cast<size_t>(p.solve_consts)),
        b(solve + static_cast<size_t>(p.transpose_consts)) {}

  size_t map, solve, b;  // each where the part before it ends
};

}  // namespace

// map(x) = b gives map(dx) = db - dmap(x).
void jvp_of_linear_solve(const JvpArgs& a) {
  const auto& p = a.params.get<LinearSolveParams>();
  const Layout at(p);
  const size_t n = a.out.size();
  const std::vector<Array> x = bind_all(a.p, a.in, a.params);
  std::copy(x.begin(), x.end(), a.out.begin());
  std::vector<Array> rhs(a.tangents.begin() + static_cast<ptrdiff_t>(at.b), a.tangents.end());
  std::vector<Array> in(a.in.begin(), a.in.begin() + static_cast<ptrdiff_t>(at.map)),
      tangents(a.tangents.begin(), a.tangents.begin() + static_cast<ptrdiff_t>(at.map));
  in.insert(in.end(), x.begin(), x.end());
  tangents.resize(in.size());
  const std::vector<Array> moved = body_tangents(p.map, in, tangents);
  for (size_t k = 0; k < n; ++k) {
    if (moved[k].defined()) rhs[k] = rhs[k].defined() ? rhs[k] - moved[k] : -moved[k];
  }
  bool any = false;
  for (const Array& t : rhs) any = any || t.defined();
  if (!any) return;
  in.assign(a.in.begin(), a.in.begin() + static_cast<ptrdiff_t>(at.b));
  for (size_t k = 0; k < n; ++k)
    in.push_back(rhs[k].defined() ? rhs[k] : rules::zeros_of(x[k].aval()));
  const std::vector<Array> out = bind_all(a.p, in, a.params);
  std::copy(out.begin(), out.end(), a.out_tangents.begin());
}

void transpose_of_linear_solve(const TransposeArgs& a) {
  const auto& p = a.params.get<LinearSolveParams>();
  if (p.transpose_solve == nullptr) {
    throw DerivativeError(
        "custom_linear_solve: reverse mode solves for the transpose of the map; give "
        "transpose_solve, or {.symmetric = true} where the map is its own transpose");
  }
  const Layout at(p);
  LinearSolveParams turned = p;
  std::swap(turned.map, turned.transpose_map);
  std::swap(turned.solve, turned.transpose_solve);
  std::swap(turned.solve_consts, turned.transpose_consts);
  const auto part = [&](size_t begin, size_t end) { return a.in.subspan(begin, end - begin); };
  std::vector<Array> in;
  for (const auto& consts : {part(0, at.map), part(at.solve, at.b), part(at.map, at.solve)})
    in.insert(in.end(), consts.begin(), consts.end());
  for (size_t k = 0; k < a.cts.size(); ++k)
    in.push_back(a.cts[k].defined() ? a.cts[k] : rules::zeros_of(a.out_avals[k]));
  const std::vector<Array> out = bind_all(a.p, in, Params::make(std::move(turned)));
  for (size_t k = 0; k < out.size(); ++k) {
    if (a.linear(at.b + k)) a.out[at.b + k] = out[k];
  }
}

void batch_of_linear_solve(const BatchArgs& a) {
  LinearSolveParams p = a.params.get<LinearSolveParams>();
  const Layout at(p);
  const size_t n = a.out.size();
  const auto mapped = [&](const GraphPtr& graph, size_t begin, size_t end) -> GraphPtr {
    if (graph == nullptr) return nullptr;
    Mask batched(a.batched.begin() + static_cast<ptrdiff_t>(begin),
                 a.batched.begin() + static_cast<ptrdiff_t>(end));
    batched.resize(batched.size() + n, true);
    return std::make_shared<const Graph>(batch_body(graph, a, batched, Mask(n, true)).graph);
  };
  p.map = mapped(p.map, 0, at.map);
  p.transpose_map = mapped(p.transpose_map, 0, at.map);
  p.solve = mapped(p.solve, at.map, at.solve);
  p.transpose_solve = mapped(p.transpose_solve, at.solve, at.b);
  std::vector<Array> in(a.in.begin(), a.in.end());
  for (size_t k = at.b; k < in.size(); ++k)
    in[k] = rules::materialize_batch(in[k], a.batched[k], a.size);
  const std::vector<Array> out = bind_all(a.p, in, Params::make(std::move(p)));
  std::copy(out.begin(), out.end(), a.out.begin());
}

}  // namespace spruce::internal
