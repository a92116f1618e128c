// SPDX-License-Identifier: Apache-2.0
// A loop that runs while a condition of its carry holds.
#include "spruce/transforms/control/body/place_operands.h"
#include "spruce/transforms/control/body/samples.h"
#include "spruce/transforms/control/loops/while_rules.h"

namespace spruce {
namespace {

[[noreturn]] void wrong_while_loop(const ShapeArgs& a, const std::string& what) {
  throw GraphError(std::string(a.op) + ": " + what);
}

void check_inputs(const ShapeArgs& a, const char* what, const Graph& g, size_t first, size_t consts,
                  size_t carry) {
  const std::vector<Aval> types = internal::input_avals(g);
  if (types.size() != consts + carry)
    wrong_while_loop(a, std::string("the ") + what + " has " + std::to_string(types.size()) +
                            " inputs, there are " + std::to_string(consts) +
                            " constants and a carry of " + std::to_string(carry));
  for (size_t i = 0; i < types.size(); ++i) {
    const Aval& got = *a.in[i < consts ? first + i : a.in.size() - carry + (i - consts)];
    if (got.dtype != types[i].dtype || !(got.shape == types[i].shape))
      wrong_while_loop(a, std::string("the ") + what + " takes " + to_string(types[i]) +
                              " as input " + std::to_string(i) + ", which is " + to_string(got));
  }
}

std::vector<Aval> while_loop_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<WhileParams>();
  if (p.condition == nullptr || p.body == nullptr)
    wrong_while_loop(a, "the condition or the body is missing");
  const auto inputs = static_cast<int64_t>(a.in.size());
  if (p.condition_consts < 0 || p.body_consts < 0 || p.condition_consts > inputs ||
      p.body_consts > inputs - p.condition_consts)
    wrong_while_loop(a, "there are not as many inputs as constants");
  const auto first = static_cast<size_t>(p.condition_consts),
             consts = static_cast<size_t>(p.body_consts), carry = a.in.size() - first - consts;
  check_inputs(a, "condition", *p.condition, 0, first, carry);
  check_inputs(a, "body", *p.body, first, consts, carry);
  const std::vector<Aval> truth = internal::output_avals(*p.condition),
                          out = internal::output_avals(*p.body),
                          in = internal::input_avals(*p.body);
  if (truth.size() != 1 || truth[0].dtype != Dtype::kBool || truth[0].shape.rank() != 0)
    wrong_while_loop(a, "the condition must give one bool[]");
  if (out.size() != carry)
    wrong_while_loop(a, "the body gives " + std::to_string(out.size()) + " values for a carry of " +
                            std::to_string(carry));
  std::vector<Aval> result(in.begin() + static_cast<ptrdiff_t>(consts), in.end());
  for (size_t k = 0; k < carry; ++k) {
    if (out[k].dtype != result[k].dtype || !(out[k].shape == result[k].shape))
      wrong_while_loop(a, "carry " + std::to_string(k) + " is " + to_string(result[k]) +
                              " before the body and " + to_string(out[k]) + " after it");
  }
  return result;
}

// A number that grows past a bound, and one that counts the steps; with a greatest number of them
// that is more than enough, too small, and none at all.
std::vector<Sample> while_loop_samples() {
  using internal::sample_body, internal::sample_input;
  WhileParams p;
  p.condition_consts = p.body_consts = 1;
  p.condition = sample_body(R"(graph(a: f64[], x: f64[], n: i32[]) {
  b: bool[] = lt x a
  return b
})");
  p.body = sample_body(R"(graph(b: f64[], x: f64[], n: i32[]) {
  c: f64[] = mul x b
  d: f64[] = add c x
  e: i32[] = constant {1}
  f: i32[] = add n e
  return d f
})");
  std::vector<Sample> out;
  for (const int64_t most : {9, 2, 0}) {
    p.max_steps = most;
    p.checkpoint = most == 9;
    out.push_back({{sample_input({}, 3, 4), sample_input({}, 0.5, 1), sample_input({}, 0.5, 2),
                    sample_input({}, 0, 5, int32)},
                   Params::make(p),
                   true});
  }
  return out;
}

}  // namespace

extern constinit const Primitive while_loop_p = {
    .name = "while_loop",
    .shapes = while_loop_shapes,
    .jvp = internal::jvp_of_while,
    .batch = internal::batch_of_while,
    .samples = while_loop_samples,
    .params = kParamsOf<WhileParams>,
    .kind = PrimitiveKind::kWhile,
    .call = internal::run_while,
    .prepare = internal::prepare_while,
};

namespace rules {

std::vector<Array> while_loop(const WhileParams& params, std::span<const Array> in) {
  const uint8_t device = spruce::internal::device_of_operands(in);
  if (device == 0) return bind_all(while_loop_p, in, Params::make(params));
  WhileParams placed = params;
  placed.condition = spruce::internal::placed_body(params.condition, device);
  placed.body = spruce::internal::placed_body(params.body, device);
  return bind_all(while_loop_p, spruce::internal::placed_operands(in, device),
                  Params::make(std::move(placed)));
}

}  // namespace rules
}  // namespace spruce
