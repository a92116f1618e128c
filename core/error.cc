// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/error.h"

#include <string_view>

namespace spruce {
namespace {

// True for our own headers, whose templates call operations for the user.
bool is_ours(std::string_view file) {
  if (!file.ends_with(".h")) return false;
  for (const std::string_view part :
       {"/spruce/core/", "/spruce/transforms/", "/spruce/nn/", "/spruce/optim/"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return false;
}

std::string with_place(const std::string& message) {
  const Loc loc = LocScope::current();
  if (loc.file() == nullptr || is_ours(loc.file())) return message;
  return message + "\n  at " + loc.file() + ":" + std::to_string(loc.line());
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(with_place(message)) {}

}  // namespace spruce
