// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/part_scope.h"

namespace spruce::nn::internal {

PartScope::PartScope(Context& ctx, const char* whole, size_t index, std::string (*name)())
    : inside_(ctx, index), whole_(whole), index_(index), name_(name) {}

std::string PartScope::path(const std::string& around) const {
  return join_path(around, std::to_string(index_));
}

std::string PartScope::type() const {
  const std::string name = name_();
  if (name.find("lambda") != name.npos) return "a function";
  return name.substr(0, name.find('<'));
}

}  // namespace spruce::nn::internal
