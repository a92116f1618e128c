// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/norm.h"
#include "spruce/cuda/codegen/softmax_rows.h"

namespace spruce {
extern const Primitive log_softmax_p;
}

namespace spruce::cuda {
namespace {

Kernels make_log_softmax(const PrepareArgs& a) {
  return softmax_rows(a, "log_softmax", false, R"cuda(
    const C log_total = sp::log(total);
    row.write([&](sp::i64, int, C (&x)[width]) {
#pragma unroll
      for (int j = 0; j < width; ++j) x[j] = (x[j] - m) - log_total;
    });
)cuda");
}

}  // namespace

extern const Twin log_softmax_twin = {&log_softmax_p, make_log_softmax};

}  // namespace spruce::cuda
