// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/tree_io.h"

namespace spruce::io::internal {

NamedArrays named_leaves(const std::vector<tree::Entry>& entries) {
  NamedArrays out;
  for (const tree::Entry& e : entries) {
    if (e.value.defined()) out.insert(e.path.empty() ? "value" : e.path, e.value);
  }
  return out;
}

std::vector<Array> matched_leaves(const std::string& path, const NamedArrays& file,
                                  const std::vector<tree::Entry>& entries) {
  std::vector<Array> out;
  std::string problems;
  size_t used = 0;
  const NamedArrays wanted = named_leaves(entries);
  for (const tree::Entry& e : entries) {
    const Array* found = e.value.defined() ? file.find(e.path.empty() ? "value" : e.path) : nullptr;
    if (e.value.defined() && found == nullptr) problems += "\n  missing: " + e.path;
    if (found != nullptr) ++used;
    out.push_back(found == nullptr ? Array() : *found);
  }
  if (used < file.size()) {
    for (const auto& [name, value] : file) {
      if (!wanted.contains(name)) problems += "\n  unexpected: " + name;
    }
  }
  if (!problems.empty())
    throw TreeError("load_tree: '" + path + "' has other names than the tree:" + problems);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].defined()) continue;
    const Aval &got = out[i].aval(), &want = entries[i].value.aval();
    const std::string both = "load_tree: " + entries[i].path + " is " + to_string(got) + " in '" +
                             path + "' and " + to_string(want) + " in the tree";
    if (!(got.shape == want.shape)) throw ShapeError(both);
    if (got.dtype != want.dtype)
      throw DtypeError(both + "; load the file with load_safetensors and convert with astype");
  }
  return out;
}

}  // namespace spruce::io::internal
