// SPDX-License-Identifier: Apache-2.0
// The k largest elements along the last axis, in falling order, and where they stand (see
// TopKParams).
#include "spruce/core/cpu/sort/sort.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/sort.h"

namespace spruce {
namespace {

std::vector<Aval> top_k_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<TopKParams>();
  Aval out = *a.in[0];
  if (out.shape.rank() == 0) {
    throw ShapeError(std::string(a.op) + ": takes an array with a last axis to choose from, got " +
                     to_string(out));
  }
  const int64_t n = out.shape.back();
  if (p.k < 0 || p.k > n) {
    throw ValueError(std::string(a.op) + ": k is " + std::to_string(p.k) +
                     ", but the last axis of " + to_string(out) + " has " + std::to_string(n) +
                     " entries; k must be between 0 and that");
  }
  out.shape.back() = p.k;
  return {out, Aval{rules::count_dtype(n), false, out.shape}};
}

void top_k_jvp(const JvpArgs& a) {
  const std::vector<Array> out = bind_all(a.p, a.in, a.params);
  a.out[0] = out[0];
  a.out[1] = out[1];
  if (a.tangents[0].defined()) {
    a.out_tangents[0] = rules::take_along(a.tangents[0], out[1], a.in[0].rank() - 1);
  }
}

void top_k_batch(const BatchArgs& a) {
  const std::vector<Array> out = bind_all(a.p, a.in, a.params);
  a.out[0] = out[0];
  a.out[1] = out[1];
}

std::vector<Sample> top_k_samples() {
  const auto sample = [](const Shape& shape, Dtype dtype, int64_t k) {
    SampleInput in;
    in.aval = Aval{dtype, false, shape};
    in.distinct = is_floating(dtype);
    return Sample{.in = {in}, .params = Params::make(TopKParams{k})};
  };
  const Dtype f = Dtype::kFloat32;
  return {
      sample({7}, f, 3),    sample({3, 5}, f, 2), sample({2, 2, 4}, f, 4),      sample({4}, f, 0),
      sample({0, 4}, f, 2), sample({3, 0}, f, 0), sample({9}, Dtype::kInt32, 5)};
}

}  // namespace

extern constinit const Primitive top_k_p = {
    .name = "top_k",
    .shapes = top_k_shapes,
    .cpu = cpu::top_k_kernel,
    .jvp = top_k_jvp,
    .batch = top_k_batch,
    .samples = top_k_samples,
    .params = kParamsOf<TopKParams>,
    .prepare = cpu::prepare_with_workspace<cpu::top_k_kernel, cpu::top_k_workspace>,
};

}  // namespace spruce
