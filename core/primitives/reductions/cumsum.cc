// SPDX-License-Identifier: Apache-2.0
// Running sums along an axis; floats up to f32 add up in f64, integers wrap.
#include "spruce/core/cpu/reduce/cumulative.h"
#include "spruce/core/cpu/reduce/row_running_sum.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {
namespace {

struct RunningSum {
  template <class T>
  struct State {
    using Wide = cpu::RunningTotal<T>;
    Wide total;
    void start() { total = 0; }
    T next(T x) {
      total += static_cast<Wide>(x);
      return static_cast<T>(total);
    }
  };
};

// Sums of integers are the same in any order, so that dense rows have a loop of their own.
void cumsum_kernel(const KernelArgs& args) {
  const View &x = args.in[0], &y = args.out[0];
  const auto& p = args.params.get<CumulativeParams>();
  const int64_t size = size_of(x.dtype()), n = x.shape()[static_cast<int>(p.axis)];
  if (x.numel() == 0 || !is_integer(x.dtype()) || size < 4 || p.reverse || n < 16 ||
      p.axis != x.shape().rank() - 1)
    return cpu::cumulative_kernel<RunningSum>(args);
  const int64_t rows = x.numel() / n;
  size == 4 ? cpu::row_running_sums(x.as<uint32_t>(), y.as<uint32_t>(), rows, n)
            : cpu::row_running_sums(x.as<uint64_t>(), y.as<uint64_t>(), rows, n);
}

void cumsum_transpose(const TransposeArgs& a) {
  CumulativeParams p = a.params.get<CumulativeParams>();
  p.reverse = !p.reverse;
  a.out[0] = bind1(a.p, {a.cts[0]}, Params::make(p));
}

}  // namespace

extern constinit const Primitive cumsum_p = {
    .name = "cumsum",
    .shape = rules::cumulative,
    .cpu = cumsum_kernel,
    .jvp = rules::jvp_linear,
    .transpose = cumsum_transpose,
    .batch = rules::batch_cumulative,
    .samples = rules::cumulative_samples,
    .params = kParamsOf<CumulativeParams>,
};

}  // namespace spruce
