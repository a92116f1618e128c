// SPDX-License-Identifier: Apache-2.0
// Functions of floats that are worth loops written for AVX-512. They give the bits of
// core/cpu/math, but for erf, which reads a table.
#pragma once

#include "spruce/core/cpu/elementwise/elementwise.h"

namespace spruce::cpu {

/// The loops for f32 (or f64, where the name says so), or null where the processor lacks AVX-512.
UnaryLoop exp_v4();
/// e^x in f64.
UnaryLoop exp_double_v4();
/// log x in f64.
UnaryLoop log_double_v4();
/// 1 / (1 + e^-x).
UnaryLoop logistic_v4();
/// x / (1 + e^-x).
UnaryLoop silu_v4();
/// tanh x.
UnaryLoop tanh_v4();
/// erf x.
UnaryLoop erf_v4();

/// y[i] = e^(x[i] - shift) for n floats, which may stand in place, and their sum as row_sum() adds
/// it up; for a null y the sum alone.
using ExpSum = float (*)(const float* x, float shift, float* y, int64_t n);
/// It, or null where the processor lacks AVX-512.
ExpSum exp_sum_v4();

/// For primitives that have none.
inline UnaryLoop no_loop() { return nullptr; }

/// The kernel of an operation that has such a loop for f32, and maybe one for f64: `Op` does what
/// is left.
template <class Op, UnaryLoop (*kFloats)(), UnaryLoop (*kDoubles)() = no_loop>
void kernel_with_v4(const KernelArgs& args) {
  static const UnaryLoop floats = kFloats(), doubles = kDoubles();
  const Dtype dtype = args.in[0].dtype();
  const UnaryLoop loop = dtype == Dtype::kFloat32   ? floats
                         : dtype == Dtype::kFloat64 ? doubles
                                                    : nullptr;
  if (loop != nullptr)
    run_unary(args, loop);
  else
    unary_kernel<Op, Types::kFloating>(args);
}

}  // namespace spruce::cpu
