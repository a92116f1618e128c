// SPDX-License-Identifier: Apache-2.0
// The sum over axes. f16 and bf16 add up in f32, integers wrap.
#include "spruce/core/cpu/reduce/reduce.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {
namespace {

struct Sum {
  static constexpr bool kUnsigned = true;
  template <class T>
  static constexpr bool accepts() {
    return !std::is_same_v<T, bool>;
  }
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return static_cast<T>(a + b);
  }
};

void reduce_sum_transpose(const TransposeArgs& a) {
  a.out[0] =
      rules::broadcast_reduced(a.cts[0], a.avals[0].shape, a.params.get<ReduceParams>().axes);
}

}  // namespace

extern constinit const Primitive reduce_sum_p = {
    .name = "reduce_sum",
    .shape = rules::reduced_numeric,
    .cpu = cpu::reduce_kernel<Sum>,
    .jvp = rules::jvp_linear,
    .transpose = reduce_sum_transpose,
    .batch = rules::batch_reduce,
    .samples = rules::reduce_samples,
    .params = kParamsOf<ReduceParams>,
    .kind = PrimitiveKind::kReduction,
    .prepare = cpu::prepare_with_workspace<cpu::reduce_with<Sum>, cpu::reduce_workspace>,
    .combine = &add_p,
};

}  // namespace spruce
