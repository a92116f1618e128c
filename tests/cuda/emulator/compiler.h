// SPDX-License-Identifier: Apache-2.0
// NVRTC of the emulator: texts of kernels by the host's compiler.
#pragma once

#include <string>
#include <vector>

#include "spruce/cuda/driver/tables.h"
#include "tests/cuda/emulator/block.h"

namespace spruce::cuda_emulator {

/// A kernel of a module.
struct HostFunction {
  std::string name;
  HostKernel kernel;
  std::vector<size_t> sizes;  ///< of its parameters
  size_t dynamic_limit = 48 * 1024;
};

const cuda::NvrtcTable& nvrtc_table();
/// Opens what the compiler made; null where `image` is nothing of its.
void* open_module(const void* image);
/// A kernel of that name; false where there is none.
bool find_function(void* module, const char* name, HostFunction& out);
int64_t compiled_texts();

}  // namespace spruce::cuda_emulator
