// SPDX-License-Identifier: Apache-2.0
// Examples of a tree of arrays: entry i of each leaf, along the first axis, is example i.
#pragma once

#include <span>
#include <vector>

#include "spruce/core/op_scope.h"
#include "spruce/core/tree/tree.h"

namespace spruce::data {

namespace internal {

/// The rows of a concrete array along its first axis: any[n, ...] and k indices give any[k, ...].
/// `path` names the array in messages. Copies bytes on this thread and applies no operation, so
/// that a thread of a loader does not compete with the step for the pool of kernels.
Array rows(const char* op, const std::string& path, const Array& x,
           std::span<const int64_t> indices);
/// Arrays of one type as the rows of one. Throws ShapeError or DtypeError naming the first that
/// differs.
Array stacked(const char* op, const std::string& path, std::span<const Array> examples);
/// The number of examples that all leaves have. Throws TreeError without leaves, ShapeError for a
/// leaf of rank 0 or where two leaves differ.
int64_t example_count(const char* op, const std::vector<tree::Entry>& leaves);

}  // namespace internal

/// How many examples a tree holds: the size of the first axis, which all leaves share. Throws
/// TreeError for a tree without arrays, ShapeError for a leaf of rank 0 or where leaves differ.
template <class T>
int64_t example_count(const T& examples, Loc loc = Loc::current()) {
  const OpScope at("example_count", loc);
  return internal::example_count("example_count", tree::entries(examples));
}

/// The examples with those numbers: rows along the first axis of every leaf, copied. Numbers may
/// repeat. Throws IndexError for one outside of 0 .. count-1, and as example_count(); TracerError
/// under a transform (take() is for there).
template <class T>
T take_examples(const T& examples, std::span<const int64_t> indices, Loc loc = Loc::current()) {
  const OpScope at("take_examples", loc);
  const std::vector<tree::Entry> leaves = tree::entries(examples);
  internal::example_count("take_examples", leaves);
  std::vector<Array> out;
  out.reserve(leaves.size());
  for (const tree::Entry& e : leaves)
    out.push_back(internal::rows("take_examples", e.path, e.value, indices));
  return tree::unflatten(examples, out);
}
/// The same for numbers in a vector.
template <class T>
T take_examples(const T& examples, const std::vector<int64_t>& indices, Loc loc = Loc::current()) {
  return take_examples(examples, std::span<const int64_t>(indices), loc);
}

/// Single examples as one tree whose leaves have a new first axis. Throws ValueError for none,
/// TreeError where forms differ, ShapeError or DtypeError where arrays do (collate() takes
/// sequences of different lengths).
template <class T>
T stack_examples(const std::vector<T>& examples, Loc loc = Loc::current()) {
  const OpScope at("stack_examples", loc);
  if (examples.empty())
    throw ValueError("stack_examples: there are no examples; give at least one");
  const std::vector<tree::Entry> first = tree::entries(examples.front());
  const tree::Structure form = tree::structure(examples.front());
  std::vector<std::vector<Array>> columns(first.size());
  for (const T& example : examples) {
    tree::internal::check_same("stack_examples", form, tree::structure(example));
    size_t k = 0;
    for (const Array& leaf : tree::leaves(example)) columns[k++].push_back(leaf);
  }
  std::vector<Array> out;
  for (size_t k = 0; k < first.size(); ++k)
    out.push_back(internal::stacked("stack_examples", first[k].path, columns[k]));
  return tree::unflatten(examples.front(), out);
}

}  // namespace spruce::data
