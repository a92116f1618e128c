// SPDX-License-Identifier: Apache-2.0
// All that Spruce uses of oneDNN, versions 2.6 to 3.
#pragma once

#include <optional>

#include "spruce/core/cpu/conv.h"
#include "spruce/core/cpu/gemm.h"

namespace spruce::cpu::onednn {

/// True if sgemm() takes these strides: it wants neighbours along one axis of each operand.
bool takes_sgemm(const Gemm& g);
/// One f32 product on this thread alone. False, and nothing done, where oneDNN does not take it.
bool sgemm(const Gemm& g);

/// One product of bf16 on this thread alone, summed in f32, where the processor has instructions
/// for it and one axis of each operand has neighbours. False, and nothing done, for others.
bool bf16_gemm(const Gemm& g);
/// Bytes of Scratch that it takes; none where it does nothing.
std::optional<size_t> bf16_gemm_scratch(const Gemm& g);

/// An f32 convolution, where it is of a form that oneDNN has a fast kernel for: forward, or the
/// gradient of the input or of the window of one. False, and nothing done, for others. The samples
/// are split into parts whose sizes depend on those of the operands only, and each part is computed
/// by one thread: so the result does not depend on their number.
bool conv(const Conv& c, const float* lhs, const float* rhs, float* out);
/// The samples of a part, unless it is the gradient of a window: by what one sample takes, so that
/// whole parts of a convolution have the same bits alone.
int64_t conv_samples(const Conv& c);
/// Bytes of scratch memory that it takes on one thread, 0 where it does nothing.
size_t conv_scratch(const Conv& c);

}  // namespace spruce::cpu::onednn
