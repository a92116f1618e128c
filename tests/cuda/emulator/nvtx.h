// SPDX-License-Identifier: Apache-2.0
// NVTX of the emulator: ranges are written down.
#pragma once

#include "spruce/cuda/driver/tables.h"

namespace spruce::cuda_emulator {

const cuda::NvtxTable& nvtx_table();

}  // namespace spruce::cuda_emulator
