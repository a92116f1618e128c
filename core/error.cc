// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/error.h"

namespace spruce {
namespace {

std::string with_place(const std::string& message) {
  const Loc loc = LocScope::current();
  if (loc.file() == nullptr) return message;
  return message + "\n  at " + loc.file() + ":" + std::to_string(loc.line());
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(with_place(message)) {}

}  // namespace spruce
