// SPDX-License-Identifier: Apache-2.0
// Bodies of loops and branches: functions staged once, with what they close over as inputs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/core/tree/tree.h"
#include "spruce/transforms/function/checked_function.h"
#include "spruce/transforms/function/empty_leaves.h"

namespace spruce::internal {

/// A body as the loops see it: leaves in, leaves out. It runs while it is staged, under an
/// interpreter that has its own place in the user's code.
using FlatBody = std::function<std::vector<Array>(std::span<const Array>)>;

/// A staged body. Its first inputs are `consts`: values of interpreters outside and arrays that the
/// function closes over. Small arrays stay in the graph as constants.
struct Body {
  Graph graph;
  std::vector<Array> consts;

  /// The types of the outputs.
  std::vector<Aval> results() const;
};

/// Gives output `k` the type `to`.
void convert_output(Graph& graph, size_t k, const Aval& to);

/// Stages `f` on inputs of those types. Throws TracerError for a value that `f` closes over and
/// whose function has ended.
Body stage_body(const char* name, const FlatBody& f, std::span<const Aval> in);
/// The same for the body or condition of a loop, which stands for all steps.
Body stage_step(const char* name, const FlatBody& f, std::span<const Aval> in);
/// The name of the innermost loop whose body runs on this thread while it is staged, where that is
/// inside of the interpreter of that id; else null.
const char* loop_within(uint64_t interpreter);

struct AppendDefined {
  std::vector<Array>& to;
  void operator()(const Array& a, tree::Leaf) const {
    if (a.defined()) to.push_back(a);
  }
};
struct ReplaceDefined {
  const Array* next;
  void operator()(Array& a, tree::Leaf) {
    if (a.defined()) a = *next++;
  }
};

/// Appends the leaves of a tree that are defined.
template <class T>
void append_leaves(std::vector<Array>& out, const T& x) {
  tree::internal::for_each_leaf(x, AppendDefined{out});
}

/// A tree like `like` with `leaves` in the places of its defined leaves.
template <class T>
T with_leaves(const T& like, std::span<const Array> leaves) {
  T out = like;
  tree::internal::for_each_leaf(out, ReplaceDefined{leaves.data()});
  return out;
}

/// The paths of the defined leaves, within `root`: "carry.h", "carry" for a single array.
std::vector<std::string> leaf_paths(const std::string& root,
                                    const std::vector<tree::Entry>& entries);

/// How two trees differ: in their structures, or in which leaves are undefined. Empty if they do
/// not.
std::string form_difference(const tree::Structure& first,
                            const std::vector<tree::Entry>& first_leaves,
                            const tree::Structure& second,
                            const std::vector<tree::Entry>& second_leaves);

/// Throws TreeError unless the carry has after the body the form that it had before.
void check_carry_form(const char* op, const tree::Structure& before,
                      const std::vector<tree::Entry>& before_leaves, const tree::Structure& after,
                      const std::vector<tree::Entry>& after_leaves);
template <class T>
void check_carry_form(const char* op, const T& before, const T& after) {
  check_carry_form(op, tree::structure(before), tree::entries(before), tree::structure(after),
                   tree::entries(after));
}

/// Throws TracerError, naming the operation, for a value whose function has ended.
void check_running(const char* op, std::span<const Array> values);

/// Settles the types of a carry. `init` are the leaves that the loop starts from, `paths` name
/// them; `stage` stages the body on a carry of the given types and returns it, with the carry first
/// among its outputs. A weakly typed leaf of init takes the type that the body gives it; what the
/// body gives weakly takes that of init. A number of the host goes to the device where the other of
/// the two is. Throws ShapeError, DtypeError or DeviceError naming the leaf where the types differ
/// otherwise.
Body settle_carry(const char* op, std::vector<Array>& init, const std::vector<std::string>& paths,
                  const std::function<Body(std::span<const Aval>)>& stage);

/// C++ numbers in the place of arrays are arrays.
template <class T>
using BodyTree = std::conditional_t<Scalar<std::decay_t<T>>, Array, std::decay_t<T>>;

/// The body f of a loop can be run, and gives a carry of the type that the loop starts from.
template <class F, class Carry, class... Args>
constexpr bool check_body() {
  if constexpr (check_run<F, Args...>()) {
    constexpr bool ok = std::is_same_v<BodyTree<CallResult<F, Args...>>, Carry>;
    static_assert(ok,
                  "spruce: the carry that the body of a loop returns has another type than the one "
                  "that the loop starts from");
    return ok;
  } else {
    return false;
  }
}

}  // namespace spruce::internal
