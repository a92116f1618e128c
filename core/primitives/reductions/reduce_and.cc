// SPDX-License-Identifier: Apache-2.0
// Logical and over axes; for integers, the bits that all have.
#include <cstring>

#include "spruce/core/cpu/reduce/reduce.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {
namespace {

struct And {
  static constexpr bool kUnsigned = true;
  template <class T>
  static constexpr bool accepts() {
    return std::is_integral_v<T>;
  }
  template <class T>
  static constexpr T identity() {
    return static_cast<T>(~T{});
  }
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return static_cast<T>(a & b);
  }
};

// For bool nothing is all ones: over no elements the bytes must become 1.
void reduce_and(const KernelArgs& a) {
  cpu::reduce_with<And>(a);
  const View& y = a.out[0];
  if (y.dtype() != Dtype::kBool || a.in[0].numel() > 0) return;
  std::memset(y.data, 1, static_cast<size_t>(y.numel()));
}

}  // namespace

extern constinit const Primitive reduce_and_p = {
    .name = "reduce_and",
    .shape = rules::reduced_integral,
    .cpu = {reduce_and, cpu::reduce_loops<And>},
    .jvp = rules::jvp_zero,
    .batch = rules::batch_reduce,
    .samples = rules::reduce_bool_samples,
    .params = kParamsOf<ReduceParams>,
    .kind = PrimitiveKind::kReduction,
    .prepare = cpu::prepare_with_workspace<reduce_and, cpu::reduce_workspace>,
    .combine = &and_p,
};

}  // namespace spruce
