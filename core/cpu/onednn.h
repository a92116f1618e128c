// SPDX-License-Identifier: Apache-2.0
// All that Spruce uses of oneDNN, versions 2.6 to 3.
#pragma once

#include <cstddef>
#include <optional>

#include "spruce/core/cpu/gemm.h"

namespace spruce::cpu::onednn {

/// True if sgemm() takes these strides: it wants neighbours along one axis of each operand.
bool takes_sgemm(const Gemm& g);
/// One f32 product on this thread alone. False, and nothing done, where oneDNN does not take it.
bool sgemm(const Gemm& g);

/// True if oneDNN uses the processor's instructions for products of matrices of bf16.
bool has_amx();
/// One product of bf16 on this thread alone, summed in f32, where the processor has instructions
/// for it and one axis of each operand has neighbours. False, and nothing done, for others.
bool bf16_gemm(const Gemm& g);
/// Bytes of Scratch that it takes; none where it does nothing.
std::optional<size_t> bf16_gemm_scratch(const Gemm& g);

}  // namespace spruce::cpu::onednn
