// SPDX-License-Identifier: Apache-2.0
// Logical or over axes; for integers, the bits that any has.
#include "spruce/core/cpu/reduce/reduce.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {
namespace {

struct Or {
  static constexpr bool kUnsigned = true;
  template <class T>
  static constexpr bool accepts() {
    return std::is_integral_v<T>;
  }
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return static_cast<T>(a | b);
  }
};

}  // namespace

extern constinit const Primitive reduce_or_p = {
    .name = "reduce_or",
    .shape = rules::reduced_integral,
    .cpu = cpu::reduce_kernel<Or>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_reduce,
    .samples = rules::reduce_bool_samples,
    .params = kParamsOf<ReduceParams>,
    .kind = PrimitiveKind::kReduction,
    .prepare = cpu::prepare_with_workspace<cpu::reduce_with<Or>, cpu::reduce_workspace>,
    .combine = &or_p,
};

}  // namespace spruce
