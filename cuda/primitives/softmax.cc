// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/norm.h"
#include "spruce/cuda/codegen/softmax_rows.h"

namespace spruce {
extern const Primitive softmax_p;
}

namespace spruce::cuda {
namespace {

Kernels make_softmax(const PrepareArgs& a) {
  return softmax_rows(a, "softmax", true, R"cuda(
    const C scale = C(1) / total;
    row.write([&](sp::i64, int, C (&x)[width]) {
#pragma unroll
      for (int j = 0; j < width; ++j) x[j] = (Row::is_held ? x[j] : sp::exp(x[j] - m)) * scale;
    });
)cuda");
}

}  // namespace

extern const Twin softmax_twin = {&softmax_p, make_softmax};

}  // namespace spruce::cuda
