// SPDX-License-Identifier: Apache-2.0
// Functions of floats in AVX-512, whose permutations of registers make tables cheap.
#pragma once

#include "spruce/core/cpu/elementwise.h"

namespace spruce::cpu {

/// The loops for f32, or null where the processor lacks AVX-512.
UnaryLoop exp_by_table();
UnaryLoop logistic_by_table();
UnaryLoop silu_by_table();
UnaryLoop tanh_by_table();
UnaryLoop erf_by_table();

/// The kernel of an operation that has such a loop for f32: `Op` does what is left.
template <class Op, UnaryLoop (*kTable)()>
void kernel_by_table(const KernelArgs& args) {
  static const UnaryLoop table = kTable();
  if (table != nullptr && args.in[0].dtype() == Dtype::kFloat32)
    run_unary(args, table);
  else
    unary_kernel<Op, Types::kFloating>(args);
}

}  // namespace spruce::cpu
