// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_file.h"

#include "spruce/core/io/tree_io.h"

namespace spruce::nn {
namespace {

using internal::join_path, internal::Node;
using io::internal::StaticTexts;

// Stands behind the path of a part for its type; no field of a struct has the name.
constexpr const char* kType = "(class)";
// The name of a preset, once in a file.
constexpr const char* kInit = "(init)";

std::string type_of(const std::shared_ptr<Node>& node) { return ModuleRef(node).name(); }

StaticTexts options_of(const std::shared_ptr<Node>& root) {
  StaticTexts out;
  for (const auto& [path, node] : internal::named_nodes(root)) {
    out.emplace(join_path(path, kType), type_of(node));
    if (node->layer == nullptr) continue;
    for (const auto& [name, text] : node->layer->options())
      out.emplace(join_path(path, name), text);
  }
  return out;
}

// The options of the layer of a node, without its path.
StaticTexts options_below(const StaticTexts& all, const StaticTexts& own, const std::string& path) {
  StaticTexts out;
  for (const auto& entry : own) out.emplace(entry.first, all.at(join_path(path, entry.first)));
  return out;
}

// Throws TreeError where parts, their types or the names of options differ.
void check_parts(const std::string& path, const StaticTexts& file,
                 const std::shared_ptr<Node>& root) {
  const StaticTexts own = options_of(root);
  std::string problems;
  for (const auto& [name, text] : own) {
    const auto other = file.find(name);
    if (other == file.end())
      problems += "\n  missing: " + name;
    else if (name.ends_with(kType) && other->second != text)
      problems +=
          "\n  " + name + " is " + other->second + " in the file and " + text + " in the module";
  }
  for (const auto& entry : file) {
    if (own.count(entry.first) == 0) problems += "\n  unexpected: " + entry.first;
  }
  if (problems.empty()) return;
  throw TreeError("load_module: " + path +
                  " is of a module with other parts or options:" + problems);
}

}  // namespace

void save_module(const std::string& path, const ModuleRef& module, const SaveModuleOptions& options,
                 Loc loc) {
  const OpScope at("save_module", loc);
  StaticTexts texts = options_of(module.node());
  if (!options.init.name.empty()) {
    texts.emplace(kInit, options.init.name);
  } else if (options.init.weight || options.init.bias) {
    throw ValueError(
        "save_module: init has no name; a file stores that of a preset, such as "
        "nn::init::flax_v1");
  }
  std::vector<tree::Entry> entries;
  for (const auto& [name, value] : module.state_dict()) entries.push_back({name, value});
  io::internal::save_leaves(path, entries, texts);
}

ModuleFile load_module(const std::string& path, const ModuleRef& module, Loc loc) {
  const OpScope at("load_module", loc);
  io::internal::TreeFile file = io::internal::load_leaves(path);
  if (!file.statics) {
    throw TreeError("load_module: " + path +
                    " has no options of layers; read its arrays with load_state_dict");
  }
  ModuleFile said;
  if (const auto init = file.statics->extract(kInit)) said.init = init.mapped();
  check_parts(path, *file.statics, module.node());
  std::vector<std::pair<Node*, std::shared_ptr<const internal::AnyLayer>>> layers;
  for (const auto& [part, node] : internal::named_nodes(module.node())) {
    if (node->layer == nullptr) continue;
    layers.emplace_back(node.get(), node->layer->with_options(options_below(
                                        *file.statics, node->layer->options(), part)));
  }
  // load_state_dict checks names and versions, against arrays of the sizes that the file has.
  std::vector<std::pair<internal::Variable*, Array>> before;
  for (const internal::Place& p : internal::places(*module.node(), internal::Names::kAll)) {
    if (const Array* value = file.arrays.find(p.name)) {
      before.emplace_back(&p.variable(), p.variable().value);
      p.variable().value = *value;
    }
  }
  try {
    module.load_state_dict(file.arrays);
  } catch (...) {
    for (size_t i = before.size(); i-- > 0;) before[i].first->value = before[i].second;
    throw;
  }
  for (auto& [node, layer] : layers) node->layer = std::move(layer);
  internal::note_structure_change();
  return said;
}

}  // namespace spruce::nn
