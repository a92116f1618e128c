// SPDX-License-Identifier: Apache-2.0
// Functions of floats that are worth loops written for AVX-512. They give the bits of
// core/math, but for erf, which reads a table.
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

/// The loop of an operation that has such a one for f32, and maybe one for f64: `Op` does what is
/// left.
template <class Op, UnaryLoop (*kFloats)(), UnaryLoop (*kDoubles)()>
UnaryLoop loop_with_v4(const LoopArgs& args) {
  static const UnaryLoop floats = kFloats(), doubles = kDoubles();
  const UnaryLoop loop = args.in == Dtype::kFloat32   ? floats
                         : args.in == Dtype::kFloat64 ? doubles
                                                      : nullptr;
  return loop != nullptr ? loop : unary_loop<Op, Types::kFloating>(args);
}

/// Its kernel.
template <class Op, UnaryLoop (*kFloats)(), UnaryLoop (*kDoubles)() = no_loop>
inline constexpr CpuKernel kernel_with_v4 = loop_kernel<loop_with_v4<Op, kFloats, kDoubles>>;

}  // namespace spruce::cpu
