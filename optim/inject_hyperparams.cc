// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/inject_hyperparams.h"

namespace spruce::optim {

namespace {

template <class T>
std::string names_of(const std::map<std::string, T>& values) {
  std::string out;
  for (const auto& [name, value] : values) out += (out.empty() ? "\"" : ", \"") + name + "\"";
  return out.empty() ? "none" : out;
}

}  // namespace

const Array& Hyperparams::operator[](const std::string& name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  throw ValueError("inject_hyperparams: no hyperparameter \"" + name + "\" among " +
                   names_of(values_) + "; give it a value, such as {\"" + name + "\", 1e-3}");
}

namespace internal {

void check_names(const std::map<std::string, Schedule>& values,
                 const std::map<std::string, Array>& in_state) {
  for (const auto& [name, value] : in_state) {
    if (values.count(name) != 0) continue;
    throw TreeError("inject_hyperparams: the state has a hyperparameter \"" + name +
                    "\", and those of the optimizer are " + names_of(values) +
                    "; set one of these, or give it a value in inject_hyperparams");
  }
}

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
