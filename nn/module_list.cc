// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_list.h"

namespace spruce::nn::internal {

void add_part(Node& list, const std::string& name, const std::shared_ptr<Node>& part) {
  check_part_name(list.type, name);
  for (const Node::Child& c : list.children) {
    if (c.name == name) throw ValueError(list.type + ": there is a part '" + name + "' already");
  }
  for (const Node* n : nodes(*part)) {
    if (n == &list)
      throw ValueError(list.type + ": '" + name + "' holds this list; modules form a tree");
  }
  list.children.push_back({name, part});
  note_structure_change();
}

void throw_null_part(const char* op) {
  throw ValueError(std::string(op) + ": a part is a null pointer; make the module first");
}

void throw_no_part(const char* op, const Node& list, const std::string& name) {
  throw TreeError(std::string(op) + ": there is no part '" + name + "'; it has " +
                  part_names(list));
}

}  // namespace spruce::nn::internal

namespace spruce::nn {

const std::shared_ptr<internal::Node>& AnyModule::node_of(const ModuleBase* module) {
  if (module == nullptr) internal::throw_null_part("AnyModule");
  return module->node();
}

}  // namespace spruce::nn
