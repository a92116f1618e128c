// SPDX-License-Identifier: Apache-2.0
// exp(x - max) / sum(exp(x - max)) over the last axis.
#include "spruce/core/cpu/rows/rows.h"
#include "spruce/core/cpu/with_workspace.h"
#include "spruce/core/math/math.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/rows.h"

namespace spruce {
namespace {

struct Softmax {
  template <class I, class T>
  static SPRUCE_INLINE void row(const rules::NoExtra<T>&, const T* x, T* y, int64_t n, int64_t) {
    const T m = cpu::row_max(x, n);
    const T total = cpu::exp_sum<I>(x, m, y, n);
    const T scale = T(1) / total;
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
  }

  template <class I, class T>
  static SPRUCE_INLINE void columns(T* v, int64_t n) {
    T m[cpu::kColumns], total[cpu::kColumns];
    cpu::column_max(v, n, m);
    for (int64_t r = 0; r < cpu::kColumns; ++r) total[r] = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t r = 0; r < cpu::kColumns; ++r) {
        const T e = math::exp<I>(v[i * cpu::kColumns + r] - m[r]);
        v[i * cpu::kColumns + r] = e;
        total[r] += e;
      }
    }
    for (int64_t r = 0; r < cpu::kColumns; ++r) total[r] = T(1) / total[r];
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t r = 0; r < cpu::kColumns; ++r) v[i * cpu::kColumns + r] *= total[r];
    }
  }
};

void softmax_kernel(const KernelArgs& a) {
  cpu::run_rows<Softmax, rules::NoExtra>(a.in[0], a.out[0],
                                         []<class T>(T) { return rules::NoExtra<T>{}; });
}

std::unique_ptr<const PreparedKernel> softmax_prepare(const PrepareArgs& a) {
  return cpu::with_workspace_in_place(softmax_kernel, cpu::rows_workspace(*a.in[0]));
}

std::vector<Array> softmax_expand(std::span<const Array> in, const Params&) {
  if (in[0].size() == 0) return {in[0]};
  const Array e = exp(in[0] - max(in[0], -1, {.keepdims = true}));
  return {e / sum(e, -1, {.keepdims = true})};
}

}  // namespace

extern constinit const Primitive softmax_p = {
    .name = "softmax",
    .shape = rules::rows_floating,
    .cpu = softmax_kernel,
    .jvp = rules::jvp_unary<[](const Array&, const Array& y, const Array& t) {
      const Array scaled = t * y;
      return scaled - y * sum(scaled, -1, {.keepdims = true});
    }>,
    .batch = rules::batch_elementwise,
    .samples = rules::row_samples,
    .in_place = true,
    .expand = softmax_expand,
    .prepare = softmax_prepare,
    .flops = rules::flops_per_output<5>,
    .rows = rules::rows_of_last_axis,
};

}  // namespace spruce
