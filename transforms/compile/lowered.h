// SPDX-License-Identifier: Apache-2.0
// What jit made for one form of arguments, to be looked at: the graph, what it costs, and the
// memory that a call takes.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "spruce/transforms/compile/cost.h"
#include "spruce/transforms/compile/executor.h"

namespace spruce {

/// Bytes that one call of a compiled function has to do with.
struct MemoryAnalysis {
  int64_t arguments = 0;    ///< their arrays; one that is passed twice counts twice
  int64_t results = 0;      ///< of their own; views of arguments and repeated results take none
  int64_t donated = 0;      ///< of the results, what can stand in the memory of moved-in arguments
  int64_t constants = 0;    ///< arrays that the function captured
  int64_t temporaries = 0;  ///< between the operations, and what kernels work in
  int64_t workspace = 0;    ///< the block that is kept between calls: temporaries and tables

  /// All memory of arrays, nothing donated: arguments, results, constants and temporaries.
  int64_t peak() const { return arguments + results + constants + temporaries; }
  /// One line each.
  std::string text() const;
};

/// Prints text().
std::ostream& operator<<(std::ostream& out, const MemoryAnalysis& analysis);

/// A function that jit has staged for arguments of certain types.
class Lowered {
 public:
  /// Of the library: what Jitted::lower() has made.
  explicit Lowered(std::shared_ptr<const internal::Executor> executor)
      : executor_(std::move(executor)) {}
  /// What is moved is copied, so that both can be asked.
  Lowered(const Lowered&) = default;
  Lowered& operator=(const Lowered&) = default;  ///< The same.

  /// What was traced, without what is repeated or of no use.
  const Graph& graph() const { return executor_->source(); }
  /// What runs: after all passes. Makes the function ready if it has not run yet.
  const Graph& compiled_graph() const;
  /// The text of graph().
  std::string text() const { return graph().text(); }
  /// Operations and bytes of compiled_graph(), by equation, with your lines. (analyze_cost(graph())
  /// is that of what was traced.)
  CostAnalysis cost() const;
  /// The bytes of one call.
  MemoryAnalysis memory() const;

 private:
  std::shared_ptr<const internal::Executor> executor_;
};

/// Prints text().
std::ostream& operator<<(std::ostream& out, const Lowered& lowered);

}  // namespace spruce
