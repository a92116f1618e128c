// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module.h"

namespace spruce::nn {

ModuleBase::ModuleBase() : ModuleRef(std::make_shared<internal::Node>()) { node_->owner = this; }
ModuleBase::~ModuleBase() {
  if (node_ != nullptr) node_->owner = nullptr;
}
ModuleBase::ModuleBase(ModuleBase&& other) noexcept : ModuleRef(std::move(other.node_)) {
  if (node_ != nullptr) node_->owner = this;
}

void ModuleBase::check_name(const char* op, const std::string& name) const {
  internal::check_part_name(op, name);
  for (const auto& c : node_->children) {
    if (c.name == name)
      throw ValueError(std::string(op) + ": the module already has a child '" + name + "'");
  }
  for (const auto& s : node_->slots) {
    if (s.name == name)
      throw ValueError(std::string(op) + ": the module already has an array '" + name + "'");
  }
}

void ModuleBase::add_child(const std::string& name, std::shared_ptr<internal::Node> node) {
  check_name("register_module", name);
  if (node == nullptr)
    throw ValueError("register_module: '" + name + "' is a null pointer; make the module first");
  for (const internal::Node* n : internal::nodes(*node)) {
    if (n == node_.get())
      throw ValueError("register_module: '" + name +
                       "' is this module or holds it; modules form a tree");
  }
  node_->children.push_back({name, std::move(node)});
  internal::note_structure_change();
}

size_t ModuleBase::child_index(const std::string& name) const {
  for (size_t i = 0; i < node_->children.size(); ++i) {
    if (node_->children[i].name == name) return i;
  }
  throw TreeError("replace_module: the module has no part '" + name + "'; it has " +
                  internal::part_names(*node_));
}

internal::Node::Child ModuleBase::take_child(size_t place) {
  internal::Node::Child child = std::move(node_->children[place]);
  node_->children.erase(node_->children.begin() + static_cast<ptrdiff_t>(place));
  return child;
}

void ModuleBase::put_child(size_t place, internal::Node::Child child) {
  node_->children.insert(node_->children.begin() + static_cast<ptrdiff_t>(place), std::move(child));
  internal::note_structure_change();
}

void ModuleBase::move_last_child(size_t place) {
  put_child(place, take_child(node_->children.size() - 1));
}

void ModuleBase::add_slot(const std::string& name, const Array& value, bool buffer,
                          bool persistent) {
  check_name(buffer ? "register_buffer" : "register_parameter", name);
  (void)value.aval();
  std::vector<internal::Node::Slot>& slots = node_->slots;
  auto place = slots.end();
  while (!buffer && place != slots.begin() && std::prev(place)->variable->buffer) --place;
  slots.insert(place, {name, std::make_shared<internal::Variable>(internal::Variable{
                                 .value = value, .buffer = buffer, .persistent = persistent})});
  internal::note_structure_change();
}

void ModuleBase::register_parameter(const std::string& name, const Array& value, Loc loc) {
  const LocScope at(loc);
  add_slot(name, value, false, true);
}

void ModuleBase::register_buffer(const std::string& name, const Array& value, bool persistent,
                                 Loc loc) {
  const LocScope at(loc);
  add_slot(name, value, true, persistent);
}

size_t ModuleBase::find_slot(const std::string& name) const {
  for (size_t i = 0; i < node_->slots.size(); ++i) {
    if (node_->slots[i].name == name) return i;
  }
  throw TreeError("Module: there is no own parameter or buffer '" + name +
                  "'; register it in the constructor");
}

Array ModuleBase::parameter(const std::string& name, Loc loc) const {
  const LocScope at(loc);
  return internal::value_in_call(*node_, *node_->slots[find_slot(name)].variable);
}

void ModuleBase::update_buffer(const std::string& name, const Array& value, Loc loc) {
  const LocScope at(loc);
  internal::update_buffer(*node_, node_->slots[find_slot(name)], value);
}

}  // namespace spruce::nn
