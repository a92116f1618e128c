// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulator/blas.h"

namespace spruce::cuda_emulator {

const cuda::BlasTable& blas_table() {
  static const cuda::BlasTable table;
  return table;
}

}  // namespace spruce::cuda_emulator
