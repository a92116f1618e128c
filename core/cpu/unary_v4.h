// SPDX-License-Identifier: Apache-2.0
// Functions of floats that are worth loops written for AVX-512. They give the bits of
// core/cpu/math, but for erf, which reads a table.
#pragma once

#include "spruce/core/cpu/elementwise.h"

namespace spruce::cpu {

/// The loops for f32, or null where the processor lacks AVX-512.
UnaryLoop exp_v4();
UnaryLoop logistic_v4();
UnaryLoop silu_v4();
UnaryLoop tanh_v4();
UnaryLoop erf_v4();

/// The kernel of an operation that has such a loop for f32: `Op` does what is left.
template <class Op, UnaryLoop (*kLoop)()>
void kernel_with_v4(const KernelArgs& args) {
  static const UnaryLoop loop = kLoop();
  if (loop != nullptr && args.in[0].dtype() == Dtype::kFloat32)
    run_unary(args, loop);
  else
    unary_kernel<Op, Types::kFloating>(args);
}

}  // namespace spruce::cpu
