// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/part_scope.h"

#include "spruce/nn/type_name.h"

namespace spruce::nn::internal {

PartScope::PartScope(Context& ctx, const char* whole, size_t index, const std::type_info& type)
    : inside_(ctx, index), whole_(whole), index_(index), type_(type) {}

std::string PartScope::path(const std::string& around) const {
  return join_path(around, std::to_string(index_));
}

std::string PartScope::type() const {
  std::string name = type_name(type_);
  if (name.find("lambda") != name.npos) return "a function";
  return name.substr(0, name.find('<'));
}

}  // namespace spruce::nn::internal
