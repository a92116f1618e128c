// SPDX-License-Identifier: Apache-2.0
// Why a function was traced again: what jit saw of the arguments of each trace, and how the newest
// differs from the one that is most like it.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <typeinfo>
#include <vector>

#include "spruce/transforms/function/function_form.h"

namespace spruce::internal {

/// The arguments of one trace.
struct TraceForm {
  std::vector<std::string> types;  // C++ types of the arguments
  std::vector<io::FormLine> lines;
  bool captures = false;  // uses values of a transform around it, so that it serves one call only
};

/// As FormWriter, with the types of the leaves.
class TraceWriter final : public FormWriter {
 public:
  void leaf(const Array& a, tree::Leaf kind) override {
    FormWriter::leaf(a, kind);
    if (a.defined()) lines.back().value = to_string(a.aval());
  }
};

/// "std::vector<float>" of a type_info, as far as the compiler tells.
std::string type_name(const std::type_info& type);

template <class... Args>
TraceForm trace_form(bool captures, const Args&... args) {
  TraceWriter w;
  size_t i = 0;
  ((w.enter(i++), tree::internal::walk(args, w.any()), w.leave()), ...);
  return {{type_name(typeid(Args))...}, std::move(w.lines), captures};
}

/// All traces of one function. Safe to use from several threads.
class RetraceLog {
 public:
  RetraceLog(std::string name, bool warns) : name_(std::move(name)), warns_(warns) {}

  const std::string& name() const { return name_; }
  int64_t count() const { return count_.load(std::memory_order_relaxed); }
  /// Notes a trace; where it warns, says so on stderr, once, when it is the tenth after the first.
  void add(TraceForm form);
  /// How the newest trace differs from the earlier one with the fewest differences.
  std::string explain() const;

 private:
  std::string explain_locked() const;

  std::string name_;
  bool warns_;
  std::atomic<int64_t> count_{0};
  mutable std::mutex mutex_;
  std::deque<TraceForm> forms_;  // the newest ones
};

}  // namespace spruce::internal
