// SPDX-License-Identifier: Apache-2.0
// The same elements in memory of their own.
#include "spruce/core/cpu/runs.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

void copy_kernel(const KernelArgs& a) {
  cpu::parallel_for(a.in[0].aval->bytes(), 1 << 17, [&](int64_t begin, int64_t end) {
    cpu::copy_bytes(a.out[0].as<char>() + begin, a.in[0].as<char>() + begin, end - begin);
  });
}

void copy_transpose(const TransposeArgs& a) { a.out[0] = a.cts[0]; }

}  // namespace

extern constinit const Primitive copy_p = {
    .name = "copy",
    .shape = rules::same,
    .cpu = copy_kernel,
    .scalar = scalar::identity,
    .jvp = rules::jvp_linear,
    .transpose = copy_transpose,
    .batch = rules::batch_elementwise,
    .samples = rules::unary_samples<-20, 20>,
    .kind = PrimitiveKind::kElementwise,
    .flops = rules::no_flops,
};

}  // namespace spruce
