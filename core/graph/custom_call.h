// SPDX-License-Identifier: Apache-2.0
// A call of a function with its own derivative rule, as an equation of a graph.
#pragma once

#include "spruce/core/custom.h"
#include "spruce/core/graph/graph.h"

namespace spruce {

/// A call of a CustomFunction as an equation: any arrays to the outputs of its body.
extern const Primitive custom_call_p;
/// The tangents of a function with a custom_vjp rule, linear in the tangents of its arguments. It
/// can only be transposed, which runs the rule; running it throws DerivativeError.
extern const Primitive custom_vjp_tangent_p;

namespace internal {

/// The parameters of custom_call: the body as a graph, and the function that knows the rule.
Params make_custom_call(Graph body, const std::shared_ptr<const CustomFunction>& f);
/// The body of a custom_call equation.
const Graph& custom_call_body(const Params& params);

/// The pullback of a custom_vjp, as a linear operation on tangents that only its transpose can run.
struct PullbackRule {
  std::string name;
  size_t residuals;
  std::vector<Aval> in_avals;  // of the tangents
  std::vector<Aval> out_avals;
  /// From residuals and cotangents of the outputs (all defined) to cotangents of the inputs.
  std::vector<Array> (*run)(const void* self, std::span<const Array> residuals,
                            std::span<const Array> cts);
  std::shared_ptr<const void> self;
};
/// The tangents of the outputs from residuals and tangents (all defined).
std::vector<Array> bind_pullback(PullbackRule rule, std::span<const Array> residuals,
                                 std::span<const Array> tangents);

}  // namespace internal
}  // namespace spruce
