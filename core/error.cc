// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/error.h"

#include <mutex>
#include <set>
#include <string_view>

#include "spruce/core/op_scope.h"

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

// "sum: ..." as "std: ..." inside of std(); other beginnings stay.
std::string with_name(const std::string& message) {
  const char* op = OpScope::current();
  const size_t colon = message.find(": ");
  if (op == nullptr || colon == std::string::npos) return message;
  for (size_t i = 0; i < colon; ++i) {
    const char c = message[i];
    const bool of_name = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!of_name) return message;
  }
  return op + message.substr(colon);
}

bool is_users(Loc loc) { return loc.file() != nullptr && !is_ours(loc.file()); }

std::string with_place(const std::string& message) {
  const bool exact = is_users(LocScope::current());
  const Loc loc = exact ? LocScope::current() : FunctionScope::outer();
  if (!is_users(loc)) return message;
  return message + (exact ? "\n  at " : "\n  in the function given at ") + to_string(loc);
}

}  // namespace

std::string to_string(Loc loc) {
  if (loc.file() == nullptr) return "";
  return loc.is_text() ? loc.file() : loc.file() + (":" + std::to_string(loc.line()));
}

Loc kept(Loc loc) {
  if (!loc.is_text()) return loc;
  static std::mutex mutex;
  static std::set<std::string, std::less<>> places;  // as many as there are lines of code
  const std::lock_guard lock(mutex);
  const auto found = places.find(std::string_view(loc.file()));
  return Loc::text((found != places.end() ? found : places.insert(loc.file()).first)->c_str());
}

Error::Error(const std::string& message) : std::runtime_error(with_place(with_name(message))) {}

}  // namespace spruce
