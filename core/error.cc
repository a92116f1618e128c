// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/error.h"

#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "spruce/core/error_scope.h"
#include "spruce/core/error_text.h"
#include "spruce/core/op_scope.h"

namespace spruce {
namespace {

// True for our own headers and those of the standard library, whose templates call operations for
// the user.
bool is_ours(std::string_view file) {
  if (file.find("/include/c++/") != std::string_view::npos) return true;
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

constexpr const char* kAt = "\n  at ";
constexpr const char* kWithin = "\n  in the function given at ";

std::string with_place(const std::string& message) {
  const bool exact = is_users(LocScope::current());
  const Loc loc = exact ? LocScope::current() : FunctionScope::outer();
  if (!is_users(loc)) return message;
  return message + (exact ? kAt : kWithin) + to_string(loc);
}

}  // namespace

std::string to_string(Loc loc) {
  if (loc.file() == nullptr) return "";
  return loc.is_text() ? loc.file() : std::string(loc.file()) + ':' + std::to_string(loc.line());
}

Loc kept(Loc loc) {
  if (!loc.is_text()) return loc;
  static std::mutex mutex;
  using Places = std::set<std::string, std::less<>>;  // as many as there are lines of code
  static auto& places = *new Places;
  const std::lock_guard lock(mutex);
  const auto found = places.find(std::string_view(loc.file()));
  return Loc::text((found != places.end() ? found : places.insert(loc.file()).first)->c_str());
}

namespace internal {

std::string without_place(const Error& e) {
  const std::string text = e.what();
  const size_t last = text.rfind('\n');
  if (last == text.npos) return text;
  const std::string_view line = std::string_view(text).substr(last);
  return line.starts_with(kAt) || line.starts_with(kWithin) ? text.substr(0, last) : text;
}

std::string ErrorScope::text() {
  std::vector<const ErrorScope*> scopes;
  for (const ErrorScope* s = current_; s != nullptr; s = s->outer_) scopes.push_back(s);
  std::string path;
  for (size_t i = scopes.size(); i-- > 0;) path = scopes[i]->path(path);
  if (path.empty()) return "";
  return scopes.back()->whole() + ": layer " + path + " (" + scopes.front()->type() + "): ";
}

}  // namespace internal

namespace {

// With the part of a model that the error arises in, unless it is the message of another error.
std::string with_part(const std::string& message) {
  const std::string part = internal::ErrorScope::text();
  return message.starts_with(part) ? message : part + message;
}

}  // namespace

Error::Error(const std::string& message)
    : std::runtime_error(with_place(with_part(with_name(message)))) {}

}  // namespace spruce
