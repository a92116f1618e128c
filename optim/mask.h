// SPDX-License-Identifier: Apache-2.0
// Mask: for which leaves a transformation is.
#pragma once

#include "spruce/optim/map_trainable.h"

namespace spruce::optim {

/// A predicate over the path and the leaf: true where the transformation applies. An empty one is
/// true everywhere. It may look at the path, the shape and the dtype; under jit the leaf has no
/// values. All but biases and norms: [](const std::string&, const Array& p) { return p.rank() > 1;
/// }.
using Mask = std::function<bool(const std::string& path, const Array& leaf)>;

namespace internal {

// For each leaf of `x`, in order, whether it is trainable and `mask` is true of it.
template <class T>
std::vector<bool> selection(const Mask& mask, const T& x) {
  const std::vector<tree::Entry> entries = tree::entries(x);
  std::vector<bool> out;
  out.reserve(entries.size());
  for (const tree::Entry& e : entries) {
    out.push_back(is_trainable(e.value, e.kind) && (!mask || mask(e.path, e.value)));
  }
  return out;
}

// Throws TreeError unless `x` has the leaves that `selected` was made for, those of `like`.
template <class T, class U>
void check_selection(const char* op, const std::vector<bool>& selected, const T& x, const U& like) {
  if (tree::internal::count_leaves(x) != selected.size())
    tree::internal::check_same(op, tree::structure(x), tree::structure(like));
}

// `x` with an undefined array in place of each leaf that is not selected.
template <class T>
T only(const std::vector<bool>& selected, const T& x) {
  T out = x;
  size_t i = 0;
  tree::internal::for_each_leaf(out, [&](Array& a, tree::Leaf) {
    if (!selected[i++]) a = Array();
  });
  return out;
}

// The selected leaves of `a`, the others of `b`.
template <class T>
T merge(const std::vector<bool>& selected, const T& a, const T& b) {
  T out = b;
  const std::vector<Array> chosen = tree::leaves(a);
  size_t i = 0;
  tree::internal::for_each_leaf(out, [&](Array& leaf, tree::Leaf) {
    if (selected[i]) leaf = chosen[i];
    ++i;
  });
  return out;
}

// Each leaf, keys among them, from `a` where `condition` (bool[]) holds, else from `b`.
template <class T>
T where_tree(const Array& condition, const T& a, const T& b) {
  T out = b;
  const std::vector<Array> chosen = tree::leaves(a);
  size_t i = 0;
  tree::internal::for_each_leaf(out, [&](Array& leaf, tree::Leaf) {
    if (leaf.defined()) leaf = where(condition, chosen[i], leaf);
    ++i;
  });
  return out;
}

}  // namespace internal
}  // namespace spruce::optim
