// SPDX-License-Identifier: Apache-2.0
// A call of a function that brings its own derivative rule: a nested graph, and the rule where it
// is known (text has none: a graph that was parsed is differentiated through its body).
#include "spruce/core/graph/custom_call.h"

#include "spruce/core/graph/arity.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace {

struct CustomCallParams {
  std::string name;
  GraphPtr body;
  Opaque function;
};

const CustomFunction* function_of(const Params& params) {
  return static_cast<const CustomFunction*>(params.get<CustomCallParams>().function.get());
}

std::vector<Aval> custom_call_shapes(const ShapeArgs& a) {
  if (a.params.get<CustomCallParams>().body == nullptr)
    throw GraphError(std::string(a.op) + ": has no body");
  const Graph& body = internal::custom_call_body(a.params);
  internal::check_body(a.op, body, a.in);
  std::vector<Aval> out;
  for (const ValueId v : body.outputs) out.push_back(body.avals[static_cast<size_t>(v)]);
  return out;
}

std::vector<Array> run_body(std::span<const Array> in, const Params& params) {
  return internal::apply_graph(internal::custom_call_body(params), in);
}

std::vector<Array> custom_call_run(std::span<const Array> in, const Params& params) {
  const CustomFunction* f = function_of(params);
  return f != nullptr ? f->call(in) : run_body(in, params);
}

bool without_rule(const Params& params) { return function_of(params) == nullptr; }

void jvp(const JvpArgs& a) {
  std::vector<Array> out, out_tangents;
  function_of(a.params)->jvp(a.in, a.tangents, out, out_tangents);
  for (size_t k = 0; k < out.size(); ++k) {
    a.out[k] = out[k];
    a.out_tangents[k] = out_tangents[k];
  }
}

void batch(const BatchArgs& a) {
  const CustomFunction* f = function_of(a.params);
  const std::vector<Array> out =
      bind_custom(f->batch(a.size, {a.batched.begin(), a.batched.end()}), a.in);
  for (size_t k = 0; k < out.size(); ++k) a.out[k] = out[k];
}

}  // namespace

extern constinit const Primitive custom_call_p = {
    .name = "custom_call",
    .shapes = custom_call_shapes,
    .jvp = jvp,
    .batch = batch,
    .params = kParamsOf<CustomCallParams>,
    .call = custom_call_run,
    .expand = run_body,
    .prefer_expand = without_rule,
};

namespace internal {

Params make_custom_call(Graph body, const std::shared_ptr<const CustomFunction>& f) {
  return Params::make(
      CustomCallParams{f->kind().name, std::make_shared<const Graph>(std::move(body)), f});
}

const Graph& custom_call_body(const Params& params) { return *params.get<CustomCallParams>().body; }

}  // namespace internal
}  // namespace spruce
