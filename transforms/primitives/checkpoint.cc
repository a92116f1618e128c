// SPDX-License-Identifier: Apache-2.0
// A call of a body that reverse mode computes again instead of keeping what it computed.
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/rules/checkpoint_rules.h"

namespace spruce {
namespace {

std::vector<Aval> checkpoint_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<CheckpointParams>();
  if (p.body == nullptr) throw GraphError(std::string(a.op) + ": has no body");
  const std::vector<Aval> types = internal::input_avals(*p.body);
  bool fits = types.size() == a.in.size() && p.held >= 0 &&
              (p.held == 0 || p.held < static_cast<int64_t>(a.in.size()));
  for (size_t i = 0; fits && i < types.size(); ++i)
    fits = types[i].dtype == a.in[i]->dtype && types[i].shape == a.in[i]->shape;
  if (!fits) throw GraphError(std::string(a.op) + ": the inputs are not those of the body");
  return internal::output_avals(*p.body);
}

std::vector<Array> checkpoint_run(std::span<const Array> in, const Params& params) {
  return internal::apply_graph(*params.get<CheckpointParams>().body, in);
}

std::vector<Sample> checkpoint_samples() {
  CheckpointParams p;
  p.body = std::make_shared<const Graph>(parse_graph(R"(graph(a: f64[3], b: f64[3]) {
  c: f64[3] = sin a
  d: f64[3] = mul c b
  e: f64[3] = checkpoint_name[name="kept"] d
  f: f64[3] = exp e
  return f c
})"));
  const GraphPtr product =
      std::make_shared<const Graph>(parse_graph(R"(graph(a: f64[3], b: f64[3]) {
  c: f64[3] = sin a
  d: f64[3] = mul c b
  return d
})"));
  std::vector<Sample> out;
  for (const char* names : {"", "kept", "other,kept"}) {
    p.save_names = names;
    Sample s = rules::sample_of({{3}, {3}}, Dtype::kFloat64, Params::make(p));
    s.fixed_dtypes = true;
    out.push_back(std::move(s));
  }
  p.body = product;
  Sample linear = rules::sample_of({{3}, {3}}, Dtype::kFloat64, Params::make(p));
  linear.fixed_dtypes = true;
  out.push_back(std::move(linear));
  return out;
}

}  // namespace

extern constinit const Primitive checkpoint_p = {
    .name = "checkpoint",
    .shapes = checkpoint_shapes,
    .jvp = internal::jvp_of_checkpoint,
    .transpose = internal::transpose_of_checkpoint,
    .batch = internal::batch_of_checkpoint,
    .samples = checkpoint_samples,
    .params = kParamsOf<CheckpointParams>,
    .call = checkpoint_run,
};

}  // namespace spruce
