// SPDX-License-Identifier: Apache-2.0
// SPRUCE_LOG=compile: one line on stderr for each phase of making a function ready.
#pragma once

#include <chrono>
#include <string>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// True if the variable SPRUCE_LOG holds the word "compile"; read once.
bool log_compile();

/// The function that this thread makes ready, while it lives.
class CompileScope {
 public:
  explicit CompileScope(const std::string& name) : outer_(name_) { name_ = &name; }
  ~CompileScope() { name_ = outer_; }
  CompileScope(const CompileScope&) = delete;
  CompileScope& operator=(const CompileScope&) = delete;

 private:
  friend class CompilePhase;
  static inline thread_local const std::string* name_ = nullptr;
  const std::string* outer_;
};

/// Times a phase: from its making to done().
class CompilePhase {
 public:
  explicit CompilePhase(const char* phase) : phase_(phase) {
    if (log_compile()) begin_ = std::chrono::steady_clock::now();
  }
  /// Writes the line, with the size of the graph that came out.
  void done(const Graph& graph) const {
    if (log_compile()) write(graph);
  }

 private:
  void write(const Graph& graph) const;

  const char* phase_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace spruce::internal
