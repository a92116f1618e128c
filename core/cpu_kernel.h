// SPDX-License-Identifier: Apache-2.0
// The kernel of a primitive on the CPU and, where it is one, the loop that it runs: others run that
// over memory of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spruce/core/dtype.h"

namespace spruce {

class Params;
struct KernelArgs;

namespace cpu {

/// y[i] = f(x[i]).
using UnaryLoop = void (*)(const void* x, void* y, int64_t n);
/// y[i] = f(a[i * a_step], b[i * b_step]); steps are 0 or 1.
using BinaryLoop = void (*)(const void* a, const void* b, void* y, int64_t n, int64_t a_step,
                            int64_t b_step);
/// y[i] = f(a[i * a_step], b[i * b_step], c[i * c_step]).
using TernaryLoop = void (*)(const void* a, const void* b, const void* c, void* y, int64_t n,
                             int64_t a_step, int64_t b_step, int64_t c_step);

/// The loop of an elementwise kernel. At most one of the three is set: none where a kernel is not
/// one such loop.
struct ElementLoop {
  UnaryLoop unary = nullptr;      ///< of one input
  BinaryLoop binary = nullptr;    ///< of two
  TernaryLoop ternary = nullptr;  ///< of three

  constexpr ElementLoop() = default;                    ///< None.
  constexpr ElementLoop(UnaryLoop f) : unary(f) {}      ///< One input.
  constexpr ElementLoop(BinaryLoop f) : binary(f) {}    ///< Two inputs.
  constexpr ElementLoop(TernaryLoop f) : ternary(f) {}  ///< Three inputs.
};

/// For each of `outer` blocks of n rows of `step` elements: to[j] = the reduction over k of from[k,
/// j], for j < columns. Blocks of `to` are `step` accumulators apart.
using ReduceLoop = void (*)(const void* from, void* to, int64_t outer, int64_t n, int64_t step,
                            int64_t columns);

/// The loops of a reduction: from elements to accumulators, and from accumulators to accumulators.
struct ReduceLoops {
  ReduceLoop first = nullptr;  ///< from elements
  ReduceLoop next = nullptr;   ///< from accumulators
  int64_t accumulator_bytes =
      0;  ///< of one accumulator: 4 for f16 and bf16, which are added in f32
};

/// What a loop is chosen by.
struct LoopArgs {
  Dtype in;              ///< of the first input
  Dtype out;             ///< of the output
  const Params& params;  ///< of the equation
};

}  // namespace cpu

/// A kernel of the CPU: a function, and the loop in it.
class CpuKernel {
 public:
  using Run = void (*)(const KernelArgs&);  ///< Fills the outputs.
  /// Gives the loop for these types.
  using ElementLoopFor = cpu::ElementLoop (*)(const cpu::LoopArgs&);
  /// Gives the loops for elements of that dtype.
  using ReduceLoopsFor = cpu::ReduceLoops (*)(Dtype);

  /// One without a loop that others could run; null for none.
  constexpr CpuKernel(Run run = nullptr) : run_(run) {}
  /// An elementwise one that runs the loop which `loop` gives.
  constexpr CpuKernel(Run run, ElementLoopFor loop) : run_(run), element_(loop) {}
  /// A reduction by the loops which `loops` gives for the dtype of the input.
  constexpr CpuKernel(Run run, ReduceLoopsFor loops) : run_(run), reduce_(loops) {}

  /// Runs it; there has to be one.
  void operator()(const KernelArgs& args) const { run_(args); }
  /// True where there is none.
  friend constexpr bool operator==(const CpuKernel& k, std::nullptr_t) { return k.run_ == nullptr; }

  /// The loop of an elementwise kernel for these types; none where it is no such loop.
  cpu::ElementLoop element_loop(const cpu::LoopArgs& args) const {
    return element_ == nullptr ? cpu::ElementLoop() : element_(args);
  }
  /// The loops of a reduction over elements of that dtype; null ones for other kernels.
  cpu::ReduceLoops reduce_loops(Dtype dtype) const {
    return reduce_ == nullptr ? cpu::ReduceLoops() : reduce_(dtype);
  }

 private:
  Run run_ = nullptr;
  ElementLoopFor element_ = nullptr;
  ReduceLoopsFor reduce_ = nullptr;
};

}  // namespace spruce
