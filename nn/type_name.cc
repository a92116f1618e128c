// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/type_name.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace spruce::nn::internal {
namespace {

std::string demangled(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : type.name();
}

// What stands after the last "::" outside of <...> and (...).
std::string without_namespaces(const std::string& name) {
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') begin = i + 2;
  }
  return name.substr(begin);
}

// The first argument of a template without namespaces and parentheses.
std::string first_argument(const std::string& name) {
  std::string out;
  for (size_t i = name.find('<') + 1; i < name.size() && name[i] != ',' && name[i] != '>'; ++i) {
    if (name[i] == ':')
      out.clear();
    else if (std::isalnum(static_cast<unsigned char>(name[i])) || name[i] == '_')
      out += name[i];
  }
  return out;
}

}  // namespace

std::string type_name(const std::type_info& type) {
  const std::string name = without_namespaces(demangled(type));
  const size_t open = name.find('<');
  if (open == name.npos) return name;
  const std::string first = first_argument(name);
  if (first.size() != 1 || first < "1" || first > "3") return name;
  return name.substr(0, open) + first + "d";
}

}  // namespace spruce::nn::internal
