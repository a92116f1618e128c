// SPDX-License-Identifier: Apache-2.0
// All that Spruce uses of oneDNN, versions 2.6 to 3.
#pragma once

#include "spruce/core/cpu/gemm/gemm.h"

namespace spruce::cpu::onednn {

/// True if sgemm() takes these strides: it wants neighbours along one axis of each operand.
bool takes_sgemm(const Gemm& g);
/// One f32 product on this thread alone. False, and nothing done, where oneDNN does not take it.
bool sgemm(const Gemm& g);

}  // namespace spruce::cpu::onednn
