// SPDX-License-Identifier: Apache-2.0
// cuBLASLt of the emulator: products as plain loops.
#pragma once

#include "spruce/cuda/driver/tables.h"

namespace spruce::cuda_emulator {

const cuda::BlasTable& blas_table();

}  // namespace spruce::cuda_emulator
