// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/select.h"

#include <string_view>

namespace spruce::nn {
namespace {

// One component against one of a pattern, in which * stands for any characters.
bool matches_component(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*')
    return !text.empty() && pattern[0] == text[0] &&
           matches_component(pattern.substr(1), text.substr(1));
  for (size_t i = 0; i <= text.size(); ++i)
    if (matches_component(pattern.substr(1), text.substr(i))) return true;
  return false;
}

std::string_view first(std::string_view path) { return path.substr(0, path.find('.')); }
std::string_view rest(std::string_view path) {
  const size_t dot = path.find('.');
  return dot == path.npos ? std::string_view() : path.substr(dot + 1);
}

// The beginning of a path against a pattern.
bool matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return true;
  if (first(pattern) == "**") {
    for (std::string_view at = path;; at = rest(at)) {
      if (matches(rest(pattern), at)) return true;
      if (at.empty()) return false;
    }
  }
  return !path.empty() && matches_component(first(pattern), first(path)) &&
         matches(rest(pattern), rest(path));
}

}  // namespace

bool Selection::operator()(const std::string& path) const {
  for (const std::string& p : patterns_)
    if (matches(p, path)) return !inverted_;
  return inverted_;
}

Selection Selection::joined(const Selection& other) const {
  if (inverted_ || other.inverted_)
    throw ValueError("Selection: || does not take negations such as !a; write !(a || b)");
  Selection both = *this;
  both.patterns_.insert(both.patterns_.end(), other.patterns_.begin(), other.patterns_.end());
  return both;
}

Selection matching(const std::string& pattern, Loc loc) {
  const LocScope at(loc);
  if (pattern.empty())
    throw ValueError("matching: the pattern is empty; write \"**\" for all paths");
  return Selection({pattern});
}

Selection internal::below(const std::vector<std::string>& paths) {
  std::vector<std::string> patterns;
  for (const std::string& p : paths) patterns.push_back(p.empty() ? "**" : p);
  return Selection(std::move(patterns));
}

}  // namespace spruce::nn
