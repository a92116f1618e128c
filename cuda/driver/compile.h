// SPDX-License-Identifier: Apache-2.0
// Texts of kernels as binaries.
#pragma once

#include <string>
#include <string_view>

namespace spruce::cuda {

/// The binary of a translation unit for an architecture, 90 for sm_90: from the folder of
/// SPRUCE_CUDA_CACHE (by default ~/.cache/spruce/cuda; empty for none), else by NVRTC. Throws
/// DeviceError with the compiler's messages. Safe to call from several threads.
std::string compile(const std::string& text, int architecture);

}  // namespace spruce::cuda
