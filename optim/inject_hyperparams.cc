// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/inject_hyperparams.h"

namespace spruce::optim {

const Array& Hyperparams::operator[](const std::string& name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  std::string known;
  for (const auto& [other, value] : values_)
    known += (known.empty() ? "\"" : ", \"") + other + "\"";
  throw ValueError("inject_hyperparams: no hyperparameter \"" + name + "\" among " +
                   (known.empty() ? "none" : known) + "; give it a value, such as {\"" + name +
                   "\", 1e-3}");
}

namespace internal {

void check_hyperparams(const std::map<std::string, Schedule>& values) {
  for (const auto& [name, value] : values) {
    if (value.is_constant()) {
      value.at(Array()).check("inject_hyperparams", name.c_str(), spruce::internal::Range::kFinite);
    }
  }
}

void put_hyperparams(const std::map<std::string, Schedule>& values, const Array& count, Dtype dtype,
                     bool functions_only, std::map<std::string, Array>& out) {
  for (const auto& [name, value] : values) {
    if (value.is_function() || !functions_only) out[name] = value.at(count).in(dtype);
  }
}

}  // namespace internal
}  // namespace spruce::optim
