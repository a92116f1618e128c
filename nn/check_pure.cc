// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/check_pure.h"

#include "spruce/core/ops/compare.h"

namespace spruce::nn::internal {

void throw_not_pure(const ModuleRef& module, const std::string& what) {
  throw ValueError("check_pure: the forward of " + module.name() + " " + what);
}

void check_same_arrays(const ModuleRef& module, const std::vector<Array>& first,
                       const std::vector<Array>& second, const char* what) {
  if (first.size() != second.size()) throw_not_pure(module, what);
  for (size_t i = 0; i < first.size(); ++i) {
    const Array &a = first[i], &b = second[i];
    if (!a.defined() && !b.defined()) continue;
    if (!a.defined() || !b.defined() || a.dtype() != b.dtype() ||
        !array_equal(a, b, {.equal_nan = true}))
      throw_not_pure(module, what);
  }
}

}  // namespace spruce::nn::internal
