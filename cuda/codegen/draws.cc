// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/draws.h"

namespace spruce::cuda {

std::string words_at(KernelBuilder& kernel, const std::string& keys, int64_t n, int64_t per_key) {
  // Most often there is one key, and nothing to divide.
  if (per_key == n) return "sp::threefry(sp::key_at(" + keys + ", 0), sp::u64(i))";
  kernel.value("per_key", per_key);
  const std::string type = counting_type(n), i = type + "(i)", each = type + "(per_key)";
  return "sp::threefry(sp::key_at(" + keys + ", " + i + " / " + each + "), sp::u64(" + i + " % " +
         each + "))";
}

}  // namespace spruce::cuda
