// SPDX-License-Identifier: Apache-2.0
// The operand multiplied by updates at index vectors. Where windows meet, all updates multiply.
#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"

namespace spruce {
namespace {

// x[i - by] for each i, and `edge` where there is none.
Array moved_on(const Array& x, int64_t by, double edge) {
  return rules::pad_axis(x, rules::scalar_of(x.dtype(), edge), 0, by, -by);
}

// For each element, the product of those before it with the same place; equal places stand side by
// side. In log2(n) steps, each of which doubles how far back the products reach.
Array product_before(const Array& places, const Array& x) {
  const Array one = rules::scalar_of(x.dtype(), 1);
  const auto reach = [&](const Array& v, int64_t by) {
    return where(equal(moved_on(places, by, -1), places), moved_on(v, by, 1), one);
  };
  Array product = reach(x, 1);
  for (int64_t by = 1; by < x.size(); by *= 2) product = product * reach(product, by);
  return product;
}

// For each update, the product of the other updates of the same element. Without a division: right
// where some are zero.
Array product_of_others(const Aval& operand, const Array& indices, const Array& updates,
                        const Params& params) {
  const Dtype dtype = operand.numel() < INT32_MAX ? int32 : int64;
  // Numbers of elements from 1; windows that are left out read as 0.
  const Array numbers = reshape(rules::iota({operand.numel()}, dtype, 0) + 1, operand.shape);
  const Array place = reshape(rules::gather_like(numbers, indices, params), {updates.size()});
  const auto [places, order] = rules::sort_with_order(place);
  const Array x = rules::take_axis(reshape(updates, {updates.size()}), order, 0);
  const Array before = product_before(places, x);
  const Array after = product_before(rules::reverse_axes(places, {0}), rules::reverse_axes(x, {0}));
  const Array others = before * rules::reverse_axes(after, {0});
  return reshape(rules::take_axis(others, rules::sort_with_order(order).second, 0),
                 updates.shape());
}

void scatter_mul_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  Array t;
  if (a.tangents[0].defined()) t = bind1(a.p, {a.tangents[0], a.in[1], a.in[2]}, a.params);
  if (a.tangents[2].defined()) {
    Array factor = rules::gather_like(a.in[0], a.in[1], a.params);
    if (!rules::one_window(a.params.get<GatherParams>(), a.in[1].shape())) {
      factor = factor * product_of_others(a.in[0].aval(), a.in[1], a.in[2], a.params);
    }
    const Array base = rules::zeros_of(a.in[0].aval());
    t = rules::add_tangents(
        t, bind1(scatter_add_p, {base, a.in[1], a.tangents[2] * factor}, a.params));
  }
  a.out_tangents[0] = t;
}

void scatter_mul_transpose_rule(const TransposeArgs& a) {
  if (a.linear(0)) a.out[0] = bind1(a.p, {a.cts[0], a.in[1], a.in[2]}, a.params);
}

}  // namespace

extern constinit const Primitive scatter_mul_p = {
    .name = "scatter_mul",
    .shape = rules::scatter_shape,
    .cpu = cpu::scatter_kernel<cpu::ScatterOp::kMul>,
    .jvp = scatter_mul_jvp,
    .transpose = scatter_mul_transpose_rule,
    .batch = rules::batch_scatter,
    .samples = rules::scatter_samples,
    .params = kParamsOf<GatherParams>,
    .in_place = true,
    .prepare = cpu::prepare_scatter_kernel<cpu::ScatterOp::kMul>,
    .flops = rules::flops_per_last_input<1>,
    .updates_in_blocks = rules::sums_in_blocks,
};

}  // namespace spruce
