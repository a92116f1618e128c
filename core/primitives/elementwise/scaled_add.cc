// SPDX-License-Identifier: Apache-2.0
// alpha * a + beta * b with static factors: a running mean in one pass.
#include "spruce/core/cpu/elementwise/pair_loop.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/optimizer.h"

namespace spruce {
namespace {

template <class C>
struct Sum {
  C alpha, beta;
  SPRUCE_INLINE C operator()(C a, C b) const { return alpha * a + beta * b; }
};

void kernel(const KernelArgs& args) {
  const auto& p = args.params.get<ScaledAddParams>();
  cpu::run_pairs(args, [&]<class T, class C>(T, C) {
    return Sum<C>{static_cast<C>(p.alpha), static_cast<C>(p.beta)};
  });
}

void transpose(const TransposeArgs& a) {
  const auto& p = a.params.get<ScaledAddParams>();
  if (a.linear(0)) a.out[0] = Array(p.alpha) * a.cts[0];
  if (a.linear(1)) a.out[1] = Array(p.beta) * a.cts[0];
}

void batch(const BatchArgs& a) {
  a.out[0] = bind1(a.p,
                   {rules::materialize_batch(a.in[0], a.batched[0], a.size),
                    rules::materialize_batch(a.in[1], a.batched[1], a.size)},
                   a.params);
}

std::vector<Array> expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<ScaledAddParams>();
  // One after the other: compilers differ in the order of operands, and graphs would show it.
  const Array second = Array(p.beta) * in[1], first = Array(p.alpha) * in[0];
  return {first + second};
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 3}, Shape{0, 3}}) {
    Sample s = rules::internal::samples_over({{shape, shape}}, Dtype::kFloat32, -2, 2)[0];
    s.params = Params::make(ScaledAddParams{0.25, -1.5});
    out.push_back(s);
  }
  return out;
}

}  // namespace

extern constinit const Primitive scaled_add_p = {
    .name = "scaled_add",
    .shape = rules::same_pair,
    .cpu = kernel,
    .jvp = rules::jvp_linear,
    .transpose = transpose,
    .batch = batch,
    .samples = samples,
    .params = kParamsOf<ScaledAddParams>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
    .expand = expand,
    .flops = rules::flops_per_output<3>,
};

Array scaled_add(const Array& a, double alpha, const Array& b, double beta) {
  return bind1(scaled_add_p, {a, b}, Params::make(ScaledAddParams{alpha, beta}));
}

}  // namespace spruce
