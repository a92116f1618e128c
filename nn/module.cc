// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module.h"

#include <set>

#include "spruce/core/ops/shape.h"
#include "spruce/core/tree/path_finder.h"

namespace spruce::nn {
namespace internal {
namespace {

thread_local Call* current_call = nullptr;

}  // namespace

std::vector<Node*> nodes(Node& root) {
  std::vector<Node*> out, stack{&root};
  std::set<const Node*> seen;
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second) continue;
    out.push_back(node);
    for (const Node::Child& c : node->children) stack.push_back(c.node.get());
  }
  return out;
}

std::vector<Place> places(Node& root, Names names) {
  std::vector<Place> out;
  std::set<const Node*> seen;
  std::vector<std::pair<std::string, Node*>> stack{{"", &root}};
  while (!stack.empty()) {
    const auto [prefix, node] = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second && names == Names::kFirst) continue;
    for (size_t i = 0; i < node->slots.size(); ++i)
      out.push_back({prefix + node->slots[i].name, node, i});
    for (size_t i = node->children.size(); i-- > 0;) {
      stack.emplace_back(prefix + node->children[i].name + ".", node->children[i].node.get());
    }
  }
  return out;
}

LoadReport load(const std::vector<Place>& places, const NamedArrays& state,
                const LoadOptions& options) {
  LoadReport report;
  std::string problems;
  std::vector<std::pair<Place, Array>> loaded;
  std::set<const Array*> used;
  tree::internal::PathFinder finder(state);
  for (const Place& p : places) {
    const Array* found = finder.find(p.name);
    if (found == nullptr) {
      report.missing.push_back(p.name);
      continue;
    }
    used.insert(found);
    const Array &own = p.node->slots[p.slot].value, &given = *found;
    if (given.is_tracer()) {
      throw TracerError("load_state_dict: " + p.name +
                        " is a traced value, a module keeps known ones; return it from the "
                        "function and load it there");
    }
    if (!(own.shape() == given.shape())) {
      problems += "\n  " + p.name + ": the module has " + to_string(own.aval()) +
                  ", the state has " + to_string(given.aval());
    } else {
      loaded.emplace_back(p, astype(given, own.dtype()));
    }
  }
  for (const auto& [name, value] : state) {
    if (used.count(&value) == 0) report.unexpected.push_back(name);
  }
  if (!problems.empty()) throw ShapeError("load_state_dict: shapes differ:" + problems);
  if (options.strict && !(report.missing.empty() && report.unexpected.empty())) {
    std::string text = "load_state_dict: the names differ";
    for (const std::string& n : report.missing) text += "\n  missing: " + n;
    for (const std::string& n : report.unexpected) text += "\n  unexpected: " + n;
    throw TreeError(text + "\n  load with {.strict = false} to take over what fits");
  }
  for (auto& [place, value] : loaded) place.node->slots[place.slot].value = std::move(value);
  return report;
}

namespace {

void add_values(Call& call) {
  for (const Node* node : nodes(*call.root)) {
    const auto [it, added] = call.values.try_emplace(node);
    if (!added) continue;
    for (const Node::Slot& s : node->slots) it->second.push_back(s.value);
  }
}

}  // namespace

Call::Call(Node& of_module) : root(&of_module) { add_values(*this); }

std::vector<Array>& Call::of(const Node& node) {
  auto it = values.find(&node);
  if (it == values.end()) {
    add_values(*this);  // a part that forward has registered
    it = values.find(&node);
    if (it == values.end()) throw_not_registered();
  }
  return it->second;
}

void Call::set(const Node& node, size_t slot, const Array& value) {
  of(node)[slot] = value;
  std::vector<bool>& flags = changed[&node];
  flags.resize(node.slots.size());
  flags[slot] = true;
}

CallScope::CallScope(Call& call) : saved_(current_call) { current_call = &call; }
CallScope::~CallScope() { current_call = saved_; }
Call* CallScope::current() { return current_call; }

void throw_outside_of_call() {
  throw ValueError(
      "Stateful: a layer of a module is called outside of it; call the module, as in net(x), or "
      "keep the plain layer struct");
}

void throw_not_registered() {
  throw ValueError(
      "Module: a part that is not registered is called, so that its arrays are in no list; set it "
      "in the constructor, as in out_ = register_module(\"out\", layer)");
}

}  // namespace internal

Module::Module() : node_(std::make_shared<internal::Node>()) {}
Module::~Module() = default;

Array Module::operator()(const Array& x, Loc loc) {
  const FunctionScope within(loc);
  if (internal::CallScope::current() != nullptr) return forward(x);
  internal::Call call(*node_);
  call.key = key_;
  Array y;
  {
    const internal::CallScope scope(call);
    y = forward(x);
  }
  for (const auto& [node, flags] : call.changed) {
    for (size_t i = 0; i < flags.size(); ++i) {
      if (flags[i] && call.values.at(node)[i].is_tracer()) {
        const LocScope at(loc);
        throw TracerError("Module: '" + node->slots[i].name +
                          "' would become a traced value; inside of grad, vmap or jit use "
                          "functionalize(module), which hands new buffers out");
      }
    }
  }
  for (const internal::Place& p : internal::places(*node_)) {
    const auto it = call.changed.find(p.node);
    if (it != call.changed.end() && it->second[p.slot])
      p.node->slots[p.slot].value = call.values.at(p.node)[p.slot];
  }
  // The next call's key: a number that next_key never reaches.
  if (key_.defined() && call.keys_used > 0) key_ = random::fold_in(key_, 0xffffffffu);
  return y;
}

Module& Module::train(bool on) {
  for (internal::Node* n : internal::nodes(*node_)) n->training = on;
  return *this;
}

bool Module::training() const {
  const internal::Call* call = internal::CallScope::current();
  return call != nullptr ? call->training(*node_) : node_->training;
}

Module& Module::seed(const Key& key) {
  key_ = key;
  return *this;
}

namespace {

enum class Which { kParameters, kBuffers, kAll };

NamedArrays collect(internal::Node& root, Which which) {
  NamedArrays out;
  const internal::Names names =
      which == Which::kAll ? internal::Names::kAll : internal::Names::kFirst;
  for (const internal::Place& p : internal::places(root, names)) {
    const internal::Node::Slot& s = p.node->slots[p.slot];
    if (which == Which::kAll || s.buffer == (which == Which::kBuffers)) out.insert(p.name, s.value);
  }
  return out;
}

}  // namespace

NamedArrays Module::named_parameters() const { return collect(*node_, Which::kParameters); }
NamedArrays Module::named_buffers() const { return collect(*node_, Which::kBuffers); }
NamedArrays Module::state_dict() const { return collect(*node_, Which::kAll); }

LoadReport Module::load_state_dict(const NamedArrays& state, const LoadOptions& options, Loc loc) {
  const LocScope at(loc);
  return internal::load(internal::places(*node_, internal::Names::kAll), state, options);
}

void Module::check_name(const char* op, const std::string& name) const {
  if (name.empty() || name.find('.') != std::string::npos) {
    throw ValueError(std::string(op) + ": '" + name +
                     "' is no name; it must not be empty and hold no dot");
  }
  for (const auto& c : node_->children) {
    if (c.name == name)
      throw ValueError(std::string(op) + ": the module already has a child '" + name + "'");
  }
  for (const auto& s : node_->slots) {
    if (s.name == name)
      throw ValueError(std::string(op) + ": the module already has an array '" + name + "'");
  }
}

void Module::add_child(const std::string& name, std::shared_ptr<internal::Node> node) {
  check_name("register_module", name);
  if (node == nullptr)
    throw ValueError("register_module: '" + name + "' is a null pointer; make the module first");
  for (const internal::Node* n : internal::nodes(*node)) {
    if (n == node_.get())
      throw ValueError("register_module: '" + name +
                       "' is this module or holds it; modules form a tree");
  }
  node_->children.push_back({name, std::move(node)});
}

void Module::add_slot(const std::string& name, const Array& value, bool buffer) {
  check_name(buffer ? "register_buffer" : "register_parameter", name);
  (void)value.aval();
  std::vector<internal::Node::Slot>& slots = node_->slots;
  auto place = slots.end();
  while (!buffer && place != slots.begin() && std::prev(place)->buffer) --place;
  slots.insert(place, {name, value, buffer});
}

void Module::register_parameter(const std::string& name, const Array& value, Loc loc) {
  const LocScope at(loc);
  add_slot(name, value, false);
}
void Module::register_buffer(const std::string& name, const Array& value, Loc loc) {
  const LocScope at(loc);
  add_slot(name, value, true);
}

size_t Module::find_slot(const std::string& name) const {
  for (size_t i = 0; i < node_->slots.size(); ++i) {
    if (node_->slots[i].name == name) return i;
  }
  throw TreeError("Module: there is no own parameter or buffer '" + name +
                  "'; register it in the constructor");
}

Array Module::parameter(const std::string& name, Loc loc) const {
  const LocScope at(loc);
  const size_t i = find_slot(name);
  internal::Call* call = internal::CallScope::current();
  return call != nullptr ? call->of(*node_)[i] : node_->slots[i].value;
}

void Module::update_buffer(const std::string& name, const Array& value, Loc loc) {
  const LocScope at(loc);
  const size_t i = find_slot(name);
  if (!node_->slots[i].buffer)
    throw ValueError("update_buffer: '" + name + "' is a parameter; only buffers change in a call");
  internal::Call* call = internal::CallScope::current();
  if (call == nullptr) internal::throw_outside_of_call();
  const Array& own = call->of(*node_)[i];
  if (!(own.shape() == value.shape())) {
    throw ShapeError("update_buffer: '" + name + "' is " + to_string(own.aval()) +
                     ", the new value is " + to_string(value.aval()));
  }
  if (own.dtype() != value.dtype()) {
    throw DtypeError("update_buffer: '" + name + "' is " + to_string(own.aval()) +
                     ", the new value is " + to_string(value.aval()) + "; convert it with astype");
  }
  call->set(*node_, i, value);
}

}  // namespace spruce::nn
