// SPDX-License-Identifier: Apache-2.0
// Failures of the driver and of libraries as exceptions, in their own words.
#pragma once

#include <string>
#include <string_view>

#include "spruce/cuda/driver/tables.h"

namespace spruce::cuda {

/// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)".
std::string words(CUresult result);

/// Throws DeviceError "cuda: `what`: <words>; <next step>" unless the driver reports success.
void check(CUresult result, std::string_view what);
void check(nvrtcResult result, std::string_view what);
void check(cublasStatus_t result, std::string_view what);

/// True for an error after which a device takes no more work.
bool is_lost(CUresult result);

}  // namespace spruce::cuda
