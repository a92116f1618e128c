// SPDX-License-Identifier: Apache-2.0
// A loop of known length: a carry from step to step, slices of arrays going in and coming out.
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/control/body/place_operands.h"
#include "spruce/transforms/control/body/samples.h"
#include "spruce/transforms/control/loops/scan_rules.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce {
namespace {

[[noreturn]] void wrong_scan(const ShapeArgs& a, const std::string& what) {
  throw GraphError(std::string(a.op) + ": " + what);
}

void check_input(const ShapeArgs& a, size_t i, const Aval& want) {
  const Aval& got = *a.in[i];
  if (got.dtype != want.dtype || !(got.shape == want.shape))
    wrong_scan(a, "input " + std::to_string(i) + " is " + to_string(got) + ", the body takes " +
                      to_string(want));
}

std::vector<Aval> scan_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<ScanParams>();
  if (p.body == nullptr) wrong_scan(a, "there is no body");
  const std::vector<Aval> in = internal::input_avals(*p.body),
                          out = internal::output_avals(*p.body);
  const auto inputs = static_cast<int64_t>(in.size()), outputs = static_cast<int64_t>(out.size());
  if (p.length < 0 || p.consts < 0 || p.carry < 0 || p.unroll < 1)
    wrong_scan(a, "length, consts and carry must not be negative, unroll must be positive");
  if (p.consts > inputs || p.carry > inputs - p.consts || p.carry > outputs ||
      a.in.size() != in.size()) {
    wrong_scan(a, "the body has " + std::to_string(inputs) + " inputs and " +
                      std::to_string(outputs) + " outputs, which does not fit " +
                      std::to_string(a.in.size()) + " inputs with " + std::to_string(p.consts) +
                      " constants and a carry of " + std::to_string(p.carry));
  }
  const auto first_carry = static_cast<size_t>(p.consts),
             first_x = static_cast<size_t>(p.consts + p.carry);
  for (size_t i = 0; i < in.size(); ++i) {
    Aval want = in[i];
    if (i >= first_x) want.shape = rules::with_front(want.shape, p.length);
    check_input(a, i, want);
  }
  std::vector<Aval> result;
  for (size_t k = 0; k < out.size(); ++k) {
    if (k < static_cast<size_t>(p.carry)) {
      const Aval& carry = in[first_carry + k];
      if (out[k].dtype != carry.dtype || !(out[k].shape == carry.shape))
        wrong_scan(a, "carry " + std::to_string(k) + " is " + to_string(carry) +
                          " before the body and " + to_string(out[k]) + " after it");
      result.push_back(carry);
    } else {
      result.push_back(out[k]);
      result.back().shape = rules::with_front(out[k].shape, p.length);
    }
  }
  return result;
}

// The mapped axis stays behind that of the steps within the loop.
void scan_batch(const BatchArgs& a) {
  ScanParams p = a.params.get<ScanParams>();
  const auto first_carry = static_cast<size_t>(p.consts), carry = static_cast<size_t>(p.carry),
             first_x = first_carry + carry;
  internal::Mask batched(a.batched.begin(), a.batched.end()), asked(a.out.size(), false);
  internal::BatchedBody body;
  for (;;) {
    for (size_t i = 0; i < carry; ++i) asked[i] = batched[first_carry + i];
    body = internal::batch_body(p.body, a, batched, asked);
    bool again = false;
    for (size_t i = 0; i < carry; ++i) {
      if (!body.out_batched[i] || batched[first_carry + i]) continue;
      batched[first_carry + i] = again = true;
    }
    if (!again) break;
  }
  std::vector<Array> in(a.in.begin(), a.in.end());
  for (size_t i = first_carry; i < first_x; ++i) {
    if (batched[i]) in[i] = rules::materialize_batch(in[i], a.batched[i], a.size);
  }
  for (size_t i = first_x; i < in.size(); ++i) {
    if (batched[i]) in[i] = moveaxis(in[i], 0, 1);
  }
  p.body = std::make_shared<const Graph>(std::move(body.graph));
  const std::vector<Array> out = rules::scan(p, in);
  for (size_t k = 0; k < out.size(); ++k) {
    a.out_batched[k] = body.out_batched[k];
    a.out[k] = body.out_batched[k] && k >= carry ? moveaxis(out[k], 1, 0) : out[k];
  }
}

// Linear in carry and xs (a single step is linear in more than that, which no rule can know), then
// nonlinear in everything, then nothing but steps.
std::vector<Sample> scan_samples() {
  using internal::sample_body, internal::sample_input;
  const GraphPtr linear = sample_body(R"(graph(a: f64[2], c: f64[2], x: f64[]) {
  d: f64[2] = mul a c
  e: f64[2] = add d x
  return e d
})");
  const GraphPtr curved =
      sample_body(R"(graph(a: f64[2], b: f64[], i: i32[], c: f64[2], x: f64[], k: i32[]) {
  o: i32[] = constant {1}
  j: i32[] = add i o
  d: f64[2] = mul a c
  e: f64[2] = sin d
  f: f64[2] = mul e x
  g: f64[2] = add f b
  h: i32[] = add k j
  return j g e h
})");
  const GraphPtr bare = sample_body(R"(graph(c: f64[2]) {
  d: f64[2] = sin c
  return d c
})");
  std::vector<Sample> out;
  const auto add = [&](std::vector<SampleInput> in, ScanParams p) {
    out.push_back({std::move(in), Params::make(std::move(p)), true});
  };
  for (const int64_t n : {0, 1, 4}) {
    const SampleInput pair = sample_input({2}), number = sample_input({}), xs = sample_input({n}),
                      count = sample_input({}, 0, 5, int32),
                      counts = sample_input({n}, 0, 5, int32);
    if (n != 1) {
      add({pair, pair, xs}, {n, 1, 1, false, 1, false, linear});
      add({pair, pair, xs}, {n, 1, 1, true, 3, false, linear});
    }
    add({pair, number, count, pair, xs, counts}, {n, 2, 2, n == 4, 1, n == 1, curved});
  }
  add({sample_input({2})}, {3, 0, 1, false, 2, false, bare});
  return out;
}

}  // namespace

extern constinit const Primitive scan_p = {
    .name = "scan",
    .shapes = scan_shapes,
    .jvp = internal::jvp_of_scan,
    .transpose = internal::transpose_of_scan,
    .batch = scan_batch,
    .samples = scan_samples,
    .params = kParamsOf<ScanParams>,
    .kind = PrimitiveKind::kScan,
    .call = internal::run_scan,
    .prepare = internal::prepare_scan,
};

namespace rules {

std::vector<Array> scan(const ScanParams& params, std::span<const Array> in) {
  const uint8_t device = spruce::internal::device_of_operands(in);
  if (device == 0) return bind_all(scan_p, in, Params::make(params));
  ScanParams placed = params;
  placed.body = spruce::internal::placed_body(params.body, device);
  return bind_all(scan_p, spruce::internal::placed_operands(in, device),
                  Params::make(std::move(placed)));
}

}  // namespace rules
}  // namespace spruce
