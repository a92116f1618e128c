// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/parameter_list.h"

namespace spruce::nn {
namespace {

using internal::Node;

std::shared_ptr<Node> node_of_type(const char* type) {
  const auto node = std::make_shared<Node>();
  node->type = type;
  return node;
}

void add(Node& node, const std::string& name, const Array& value) {
  internal::check_part_name(node.type, name);
  if (!value.defined()) {
    throw ValueError(node.type + ": '" + name +
                     "' is an undefined array; a parameter has a value from the beginning");
  }
  for (const Node::Slot& s : node.slots) {
    if (s.name == name)
      throw ValueError(node.type + ": there is a parameter '" + name + "' already");
  }
  node.slots.push_back(
      {name, std::make_shared<internal::Variable>(internal::Variable{.value = value})});
  internal::note_structure_change();
}

Array value_at(const Node& node, const std::string& name) {
  std::string names;
  for (const Node::Slot& s : node.slots) {
    if (s.name == name) return internal::value_in_call(node, *s.variable);
    names += (names.empty() ? "'" : ", '") + s.name + "'";
  }
  throw TreeError(node.type + ": there is no parameter '" + name + "'; it has " +
                  (names.empty() ? "none" : names));
}

}  // namespace

ParameterList::ParameterList(std::initializer_list<Array> values, Loc loc)
    : ParameterList(std::vector<Array>(values), loc) {}

ParameterList::ParameterList(const std::vector<Array>& values, Loc loc)
    : ModuleRef(node_of_type("ParameterList")) {
  for (const Array& value : values) append(value, loc);
}

void ParameterList::append(const Array& value, Loc loc) const {
  const LocScope at(loc);
  add(*node_, std::to_string(size()), value);
}

Array ParameterList::operator[](size_t i) const { return value_at(*node_, std::to_string(i)); }

ParameterDict::ParameterDict(std::initializer_list<std::pair<std::string, Array>> values, Loc loc)
    : ModuleRef(node_of_type("ParameterDict")) {
  for (const auto& [name, value] : values) insert(name, value, loc);
}

void ParameterDict::insert(const std::string& name, const Array& value, Loc loc) const {
  const LocScope at(loc);
  add(*node_, name, value);
}

std::vector<std::string> ParameterDict::keys() const {
  std::vector<std::string> out;
  for (const Node::Slot& s : node_->slots) out.push_back(s.name);
  return out;
}

bool ParameterDict::contains(const std::string& name) const {
  for (const Node::Slot& s : node_->slots) {
    if (s.name == name) return true;
  }
  return false;
}

Array ParameterDict::operator[](const std::string& name) const { return value_at(*node_, name); }

}  // namespace spruce::nn
