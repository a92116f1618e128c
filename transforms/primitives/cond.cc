// SPDX-License-Identifier: Apache-2.0
// One of several branches, chosen by an index. All take the same inputs and give the same types.
#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/control/body/masked_operands.h"
#include "spruce/transforms/control/body/place_operands.h"
#include "spruce/transforms/control/body/samples.h"
#include "spruce/transforms/control/branches/cond_rules.h"
#include "spruce/transforms/rules/effect_rules.h"
#include "spruce/transforms/vmap/batch.h"
#include "spruce/transforms/vmap/collectives.h"

namespace spruce {
namespace {

[[noreturn]] void wrong(const ShapeArgs& a, const std::string& what) {
  throw GraphError(std::string(a.op) + ": " + what);
}

void check_types(const ShapeArgs& a, const char* what, const std::vector<Aval>& got,
                 const std::vector<Aval>& want) {
  if (got.size() != want.size())
    wrong(a, "a branch has " + std::to_string(got.size()) + " " + what + "s, there are " +
                 std::to_string(want.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].dtype != want[i].dtype || !(got[i].shape == want[i].shape))
      wrong(a, std::string(what) + " " + std::to_string(i) + " of a branch is " +
                   to_string(got[i]) + ", not " + to_string(want[i]));
  }
}

std::vector<Aval> cond_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<CondParams>();
  if (p.branches.empty()) wrong(a, "there are no branches");
  if (a.in.empty() || a.in[0]->dtype != Dtype::kInt32 || a.in[0]->shape.rank() != 0)
    wrong(a, "the first input must be the index, i32[]");
  std::vector<Aval> in;
  for (const Aval* t : a.in.subspan(1)) in.push_back(*t);
  const std::vector<Aval> out = internal::output_avals(*p.branches[0]);
  for (const GraphPtr& g : p.branches) {
    check_types(a, "input", internal::input_avals(*g), in);
    check_types(a, "output", internal::output_avals(*g), out);
  }
  return out;
}

// A batch of indices: all branches, and a selection among their results. A branch that has a
// collective sees all examples as they are: through it those that do not take the branch count too.
void batch_of_indices(const BatchArgs& a, const CondParams& p, internal::Mask batched) {
  const Array last(static_cast<int32_t>(p.branches.size()) - 1);
  const Array index = clip(a.in[0], Array(0), last);
  const bool masked = !internal::asks_for_any_axis(a.params);
  std::vector<Array> operands(a.in.begin() + 1, a.in.end());
  for (size_t i = 0; i < operands.size() && masked; ++i) {
    const Array& x = operands[i];
    if (!is_floating(x.dtype()) || (!batched[i] && x.rank() > 0)) continue;
    operands[i] = rules::materialize_batch(x, batched[i], a.size);
    batched[i] = true;
  }
  for (size_t b = 0; b < p.branches.size(); ++b) {
    const Array chosen = index == Array(static_cast<int32_t>(b));
    std::vector<Array> in = operands, out;
    if (masked) in = internal::masked_operands(std::move(in), batched, chosen);
    internal::BatchInterpreter batch(a.size, std::string(a.axis_name));
    for (size_t i = 0; i < in.size(); ++i) {
      if (batched[i]) in[i] = batch.make(in[i]);
    }
    {
      const InterpreterScope scope(&batch);
      out = internal::apply_graph(*p.branches[b], in);
    }
    for (size_t k = 0; k < out.size(); ++k) {
      const Array y = rules::materialize_batch(batch.unwrap(out[k]), batch.owns(out[k]), a.size);
      a.out[k] = b == 0 ? y : where(rules::over_leading_axes(chosen, y.rank()), y, a.out[k]);
    }
  }
}

void cond_batch(const BatchArgs& a) {
  CondParams p = a.params.get<CondParams>();
  const internal::Mask batched(a.batched.begin() + 1, a.batched.end());
  if (a.batched[0] && internal::has_effects(a.params)) return internal::batch_one_by_one(a);
  if (a.batched[0]) return batch_of_indices(a, p, batched);
  internal::Mask asked(a.out.size(), false);
  for (const GraphPtr& g : p.branches) {
    const internal::Mask mapped = internal::batch_body(g, a, batched, asked).out_batched;
    for (size_t k = 0; k < asked.size(); ++k) asked[k] = asked[k] || mapped[k];
  }
  for (GraphPtr& g : p.branches) {
    g = std::make_shared<const Graph>(internal::batch_body(g, a, batched, asked).graph);
  }
  const std::vector<Array> out = rules::cond(p, a.in);
  for (size_t k = 0; k < out.size(); ++k) {
    a.out[k] = out[k];
    a.out_batched[k] = asked[k];
  }
}

// Branches that are all linear, and some that are not; indices out of range.
std::vector<Sample> cond_samples() {
  using internal::sample_body, internal::sample_input;
  const CondParams linear{{sample_body(R"(graph(a: f64[2], b: f64[]) {
  c: f64[2] = add a b
  return c b
})"),
                           sample_body(R"(graph(a: f64[2], b: f64[]) {
  c: f64[2] = neg a
  return c b
})")}};
  const CondParams curved{{sample_body(R"(graph(a: f64[2], b: f64[]) {
  c: f64[2] = mul a a
  d: f64[2] = add c b
  e: f64[] = mul b b
  return d e
})"),
                           sample_body(R"(graph(a: f64[2], b: f64[]) {
  c: f64[2] = sin a
  d: f64[] = exp b
  e: f64[2] = mul c d
  return e d
})"),
                           sample_body(R"(graph(a: f64[2], b: f64[]) {
  c: f64[2] = exp a
  d: f64[] = sin b
  return c d
})")}};
  std::vector<Sample> out;
  for (const double index : {0.0, 1.0, 2.0, -3.0, 7.0}) {
    SampleInput i = sample_input({}, 0, 0, int32);
    i.values = {index};
    for (const CondParams& p : {linear, curved})
      out.push_back({{i, sample_input({2}), sample_input({})}, Params::make(p), true});
  }
  return out;
}

}  // namespace

extern constinit const Primitive cond_p = {
    .name = "cond",
    .shapes = cond_shapes,
    .jvp = internal::jvp_of_cond,
    .transpose = internal::transpose_of_cond,
    .batch = cond_batch,
    .samples = cond_samples,
    .params = kParamsOf<CondParams>,
    .kind = PrimitiveKind::kCond,
    .call = internal::run_cond,
    .prepare = internal::prepare_cond,
};

namespace rules {

std::vector<Array> cond(const CondParams& params, std::span<const Array> in) {
  const uint8_t device = spruce::internal::device_of_operands(in);
  if (device == 0) return bind_all(cond_p, in, Params::make(params));
  CondParams placed = params;
  for (GraphPtr& g : placed.branches) g = spruce::internal::placed_body(g, device);
  return bind_all(cond_p, spruce::internal::placed_operands(in, device),
                  Params::make(std::move(placed)));
}

}  // namespace rules
}  // namespace spruce
