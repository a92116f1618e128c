// SPDX-License-Identifier: Apache-2.0
// The linear map whose transpose is the pullback that a user gave to custom_vjp. It cannot be run,
// only transposed.
#include "spruce/core/graph/custom_call.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace {

struct PullbackParams {
  std::string name;
  Opaque rule;
};

const internal::PullbackRule& rule_of(const Params& params) {
  return *static_cast<const internal::PullbackRule*>(params.get<PullbackParams>().rule.get());
}

std::vector<Aval> custom_vjp_tangent_shapes(const ShapeArgs& a) {
  if (a.params.get<PullbackParams>().rule == nullptr) {
    throw GraphError(std::string(a.op) +
                     ": the rule has no text, so that the text of a graph with it cannot be read");
  }
  return rule_of(a.params).out_avals;
}

[[noreturn]] void throw_reverse_only(const Params& params) {
  throw DerivativeError(rule_of(params).name +
                        ": the function has a rule for reverse mode only; forward mode (jvp, "
                        "jacfwd, linearize) needs "
                        "custom_jvp");
}

std::vector<Array> custom_vjp_tangent_run(std::span<const Array>, const Params& params) {
  throw_reverse_only(params);
}

// jacfwd maps tangents.
void custom_vjp_tangent_batch(const BatchArgs& a) { throw_reverse_only(a.params); }

void custom_vjp_tangent_transpose(const TransposeArgs& a) {
  const internal::PullbackRule& rule = rule_of(a.params);
  std::vector<Array> cts(a.cts.begin(), a.cts.end());
  for (size_t k = 0; k < cts.size(); ++k) {
    if (!cts[k].defined()) cts[k] = rules::zeros_of(a.out_avals[k]);
  }
  const std::vector<Array> in_cts = rule.run(rule.self.get(), a.in.first(rule.residuals), cts);
  for (size_t i = 0; i < in_cts.size(); ++i) {
    if (a.linear(rule.residuals + i)) a.out[rule.residuals + i] = in_cts[i];
  }
}

}  // namespace

extern constinit const Primitive custom_vjp_tangent_p = {
    .name = "custom_vjp_tangent",
    .shapes = custom_vjp_tangent_shapes,
    .transpose = custom_vjp_tangent_transpose,
    .batch = custom_vjp_tangent_batch,
    .params = kParamsOf<PullbackParams>,
    .call = custom_vjp_tangent_run,
};

namespace internal {

std::vector<Array> bind_pullback(PullbackRule rule, std::span<const Array> residuals,
                                 std::span<const Array> tangents) {
  std::vector<Array> in(residuals.begin(), residuals.end());
  in.insert(in.end(), tangents.begin(), tangents.end());
  const std::string name = rule.name;
  return bind_all(
      custom_vjp_tangent_p, in,
      Params::make(PullbackParams{name, std::make_shared<const PullbackRule>(std::move(rule))}));
}

}  // namespace internal
}  // namespace spruce
