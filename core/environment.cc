// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace spruce::internal {
namespace {

template <class Known>
void warn(const char* name, std::string_view value, const Known& known) {
  std::string values;
  for (const std::string_view each : known)
    values += (values.empty() ? "" : ", ") + std::string(each);
  std::fprintf(stderr, "spruce: warning: %s=%s is not known and is ignored; known values: %s\n",
               name, std::string(value).c_str(), values.c_str());
}

std::string_view text_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

}  // namespace

std::string_view environment(const char* name, std::initializer_list<std::string_view> known) {
  const std::string_view value = text_of(name);
  const auto* found = std::find(known.begin(), known.end(), value);
  if (found != known.end()) return *found;
  if (!value.empty()) warn(name, value, known);
  return {};
}

std::vector<std::string> environment_list(const char* name, const std::vector<std::string>& known) {
  std::vector<std::string> values;
  std::string_view rest = text_of(name);
  while (!rest.empty()) {
    const std::string_view value = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), value.size() + 1));
    if (std::find(known.begin(), known.end(), value) != known.end())
      values.emplace_back(value);
    else if (!value.empty())
      warn(name, value, known);
  }
  return values;
}

}  // namespace spruce::internal
