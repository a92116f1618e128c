// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/retrace.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace spruce::internal {
namespace {

constexpr size_t kKept = 32;   // traces that are compared
constexpr size_t kShown = 8;   // differences that are told
constexpr int64_t kMany = 11;  // traces after which a warning is due

std::string described(const io::FormLine& l) {
  if (l.kind == "leaf") return l.value;
  if (l.kind == "buffer" || l.kind == "key") return l.kind + " " + l.value;
  if (l.kind == "none") return "no array";
  if (l.kind == "size") return l.value + " entries";
  return l.value;
}

// Lines of several kinds may have one path: an optional and what it holds.
using Lines = std::map<std::pair<std::string, int>, const io::FormLine*>;

Lines by_path(const TraceForm& form) {
  Lines lines;
  for (const io::FormLine& l : form.lines) {
    const int rank = l.kind == "size" ? 0 : l.kind == "entry" ? 1 : 2;
    for (int n = rank;; n += 3) {  // the entries of a map all stand at its path
      if (lines.emplace(std::pair{l.path, n}, &l).second) break;
    }
  }
  return lines;
}

std::vector<std::string> differences(const TraceForm& now, const TraceForm& then) {
  std::vector<std::string> out;
  for (size_t i = 0; i < std::max(now.types.size(), then.types.size()); ++i) {
    const std::string a = i < now.types.size() ? now.types[i] : "not there";
    const std::string b = i < then.types.size() ? then.types[i] : "not there";
    if (a != b)
      out.push_back("argument " + std::to_string(i) + " has the C++ type " + a + ", was " + b);
  }
  const Lines a = by_path(now), b = by_path(then);
  for (const auto& [place, line] : a) {
    const auto other = b.find(place);
    if (other == b.end())
      out.push_back(argument_name(place.first) + " is " + described(*line) + ", was not there");
    else if (!(*other->second == *line))
      out.push_back(argument_name(place.first) + " is " + described(*line) + ", was " +
                    described(*other->second));
  }
  for (const auto& [place, line] : b) {
    if (a.find(place) == a.end())
      out.push_back(argument_name(place.first) + " is not there, was " + described(*line));
  }
  return out;
}

}  // namespace

std::string type_name(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  const std::string name = status == 0 && text != nullptr ? text : type.name();
  std::free(text);
  return name;
}

void RetraceLog::add(TraceForm form) {
  std::string warning;
  {
    const std::lock_guard lock(mutex_);
    forms_.push_back(std::move(form));
    if (forms_.size() > kKept) forms_.pop_front();
    const int64_t count = count_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (warns_ && count == kMany) warning = explain_locked();
  }
  if (!warning.empty()) {
    std::fprintf(stderr,
                 "spruce: warning: each trace takes time, and this function keeps being traced: "
                 "%s\n",
                 warning.c_str());
  }
}

std::string RetraceLog::explain() const {
  const std::lock_guard lock(mutex_);
  return explain_locked();
}

std::string RetraceLog::explain_locked() const {
  const int64_t count = this->count();
  if (count == 0) return name_ + ": has not been traced yet";
  if (count == 1) return name_ + ": has been traced once";
  const std::string head = name_ + ": trace " + std::to_string(count);
  if (forms_.back().captures) {
    return head +
           " was due because the function uses a traced value of a transform around it: it "
           "is traced at every call there; hand that value over as an argument";
  }
  std::vector<std::string> least;
  int64_t nearest = 0;
  for (size_t i = forms_.size() - 1; i-- > 0;) {
    std::vector<std::string> d = differences(forms_.back(), forms_[i]);
    if (nearest != 0 && d.size() >= least.size()) continue;
    least = std::move(d);
    nearest = count - static_cast<int64_t>(forms_.size() - 1 - i);
  }
  if (least.empty()) return head + " was made at the same time as another of the same form";
  std::string s = head + " differs from trace " + std::to_string(nearest) + ":";
  for (size_t i = 0; i < least.size() && i < kShown; ++i) s += "\n  " + least[i];
  if (least.size() > kShown)
    s += "\n  and " + std::to_string(least.size() - kShown) + " more differences";
  return s;
}

}  // namespace spruce::internal
