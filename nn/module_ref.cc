// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_ref.h"

#include <map>
#include <ostream>
#include <set>

#include "spruce/core/default_device.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/to_device.h"
#include "spruce/nn/select.h"

namespace spruce::nn {
namespace {

using internal::Node;
using internal::Place;
using internal::Variable;

NamedArrays collect(Node& root, bool buffers, bool trainable_only = false) {
  NamedArrays out;
  out.set_holds_buffers(buffers);
  const internal::ValuesNow now(root);
  for (const Place& p : internal::places(root)) {
    const Variable& v = p.variable();
    if (v.buffer == buffers && (!trainable_only || v.requires_grad)) out.insert(p.name, now(v));
  }
  return out;
}

// The place of that path. Throws TreeError with close names.
Place find_place(const std::string& op, Node& root, const std::string& path) {
  std::vector<std::string> names;
  for (Place& p : internal::places(root, internal::Names::kAll)) {
    if (p.name == path) return std::move(p);
    names.push_back(std::move(p.name));
  }
  std::string text = op + ": there is no array '" + path + "'";
  const std::vector<std::string> close = spruce::internal::close_names(path, names);
  for (size_t i = 0; i < close.size(); ++i)
    text += (i == 0 ? "; did you mean '" : "' or '") + close[i];
  throw TreeError(text +
                  (close.empty() ? "; look at named_parameters() and named_buffers()" : "'"));
}

Array find_array(const std::string& op, Node& root, const std::string& path, bool buffer) {
  const Variable& v = find_place(op, root, path).variable();
  if (v.buffer != buffer) {
    throw TreeError(
        op + ": '" + path + "' is a " +
        (v.buffer ? "buffer; read it with get_buffer" : "parameter; read it with get_parameter"));
  }
  return internal::ValuesNow(root)(v);
}

template <class Hook>
HookHandle add_hook(const char* op, const std::shared_ptr<Node>& node,
                    std::vector<internal::HookEntry<Hook>>& hooks, Hook hook) {
  if (!hook)
    throw ValueError(std::string(op) + ": the hook is an empty function; give it a lambda");
  const uint64_t id = internal::next_id();
  hooks.push_back({id, std::move(hook)});
  internal::note_structure_change();
  return {node, id};
}

}  // namespace

ModuleRef ModuleRef::train(bool on) const {
  for (Node* n : internal::nodes(*node())) {
    if (n->training == on) continue;
    n->training = on;
    internal::note_structure_change();
  }
  return *this;
}

bool ModuleRef::training() const {
  const internal::Call* call = internal::CallScope::current();
  return call != nullptr ? call->training(*node()) : node()->training;
}

Key ModuleRef::key() const { return node()->key; }

ModuleRef ModuleRef::seed(const Key& key) const {
  node()->key = key;
  return *this;
}

NamedArrays ModuleRef::named_parameters() const { return collect(*node(), false); }
NamedArrays ModuleRef::trainable_parameters() const {
  internal::check_made("trainable_parameters", *node());
  return internal::trainable_arrays(*node());
}
NamedArrays ModuleRef::named_buffers() const { return collect(*node(), true); }

Array ModuleRef::get_parameter(const std::string& path, Loc loc) const {
  const LocScope at(loc);
  return find_array("get_parameter", *node(), path, false);
}

Array ModuleRef::get_buffer(const std::string& path, Loc loc) const {
  const LocScope at(loc);
  return find_array("get_buffer", *node(), path, true);
}

void ModuleRef::set_arrays(const NamedArrays& values, Loc loc) const {
  const LocScope at(loc);
  std::map<std::string, Variable*> known;
  for (const Place& p : internal::places(*node(), internal::Names::kAll))
    known.emplace(p.name, &p.variable());
  std::vector<Variable*> targets;
  for (const auto& [name, value] : values) {
    const auto it = known.find(name);
    if (it == known.end()) (void)find_place("set_arrays", *node(), name);
    const Aval &own = it->second->value.aval(), &given = value.aval();
    const std::string text = "set_arrays: " + name + " is " + spruce::to_string(given) +
                             ", the module has " + spruce::to_string(own);
    if (!(own.shape == given.shape)) throw ShapeError(text);
    if (own.dtype != given.dtype) throw DtypeError(text + "; convert it with astype");
    if (value.is_tracer()) {
      throw TracerError("set_arrays: " + name +
                        " is a traced value, a module keeps known ones; return it from the "
                        "function and set it there");
    }
    targets.push_back(it->second);
  }
  for (size_t i = 0; i < targets.size(); ++i) targets[i]->value = values.value(i);
}

void ModuleRef::tie(const std::string& path, const std::string& of, Loc loc) const {
  const LocScope at(loc);
  const Place a = find_place("tie", *node(), path), b = find_place("tie", *node(), of);
  const Aval &x = a.variable().value.aval(), &y = b.variable().value.aval();
  if (!(x.shape == y.shape) || x.dtype != y.dtype || a.variable().buffer != b.variable().buffer) {
    throw ShapeError("tie: " + path + " is " + spruce::to_string(x) + " and " + of + " is " +
                     spruce::to_string(y) + "; only arrays of one type and use can be one");
  }
  a.node->slots[a.slot].variable = b.node->slots[b.slot].variable;
  internal::note_structure_change();
}

ModuleRef ModuleRef::set_requires_grad(bool on) const {
  internal::check_made("requires_grad", *node());
  for (const Place& p : internal::places(*node())) p.variable().requires_grad = on;
  internal::note_structure_change();
  return *this;
}

ModuleRef ModuleRef::requires_grad(const std::string& path, bool on, Loc loc) const {
  const LocScope at(loc);
  bool found = false;
  const Selection chosen = matching(path);
  for (const Place& p : internal::places(*node(), internal::Names::kAll)) {
    if (!chosen(p.name)) continue;
    if (!p.variable().buffer) p.variable().requires_grad = on;
    found = true;
  }
  if (!found) (void)find_place("requires_grad", *node(), path);
  internal::note_structure_change();
  return *this;
}

std::vector<std::pair<std::string, ModuleRef>> ModuleRef::named_modules() const {
  std::vector<std::pair<std::string, ModuleRef>> out;
  for (auto& [path, node] : internal::named_nodes(node())) out.emplace_back(path, ModuleRef(node));
  return out;
}

std::vector<ModuleRef> ModuleRef::modules() const {
  std::vector<ModuleRef> out;
  for (auto& [path, node] : internal::named_nodes(node())) out.emplace_back(node);
  return out;
}

std::vector<std::pair<std::string, ModuleRef>> ModuleRef::named_children() const {
  std::vector<std::pair<std::string, ModuleRef>> out;
  std::set<const Node*> seen;
  for (const Node::Child& c : node()->children) {
    if (seen.insert(c.node.get()).second) out.emplace_back(c.name, ModuleRef(c.node));
  }
  return out;
}

std::vector<ModuleRef> ModuleRef::children() const {
  std::vector<ModuleRef> out;
  for (auto& [name, child] : named_children()) out.push_back(child);
  return out;
}

ModuleRef ModuleRef::get_submodule(const std::string& path, Loc loc) const {
  const LocScope at(loc);
  return ModuleRef(internal::find_node(node(), path));
}

ModuleRef ModuleRef::apply(const std::function<void(const ModuleRef&)>& f) const {
  // Parents before their children, the last child first; f goes through it from the end.
  std::vector<std::shared_ptr<Node>> order, stack{node()};
  std::set<const Node*> seen;
  while (!stack.empty()) {
    std::shared_ptr<Node> node = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(node.get()).second) continue;
    for (const Node::Child& c : node->children) stack.push_back(c.node);
    order.push_back(std::move(node));
  }
  for (size_t i = order.size(); i-- > 0;) f(ModuleRef(order[i]));
  return *this;
}

ModuleRef ModuleRef::to(Dtype dtype, Loc loc) const {
  const LocScope at(loc);
  if (!is_floating(dtype)) {
    throw DtypeError(std::string("to: a module is converted to a floating dtype, got ") +
                     std::string(spruce::name(dtype)));
  }
  internal::check_made("to", *node());
  for (const Place& p : internal::places(*node())) {
    Array& value = p.variable().value;
    if (value.defined() && is_floating(value.dtype())) value = astype(value, dtype);
  }
  return *this;
}

ModuleRef ModuleRef::to(Device& device, Loc loc) const {
  const LocScope at(loc);
  std::vector<Array> moved;
  const std::vector<Place> all = internal::places(*node());
  for (const Place& p : all) moved.push_back(to_device(p.variable().value, device));
  for (size_t i = 0; i < all.size(); ++i) all[i].variable().value = std::move(moved[i]);
  return *this;
}

ModuleRef ModuleRef::to_empty(Device& device, Loc loc) const {
  const LocScope at(loc);
  const DefaultDevice here(device);
  std::vector<Array> made;
  const std::vector<Place> all = internal::places(*node());
  for (const Place& p : all) {
    const Aval& own = p.variable().value.aval();
    made.push_back(zeros(own.shape, own.dtype));
  }
  for (size_t i = 0; i < all.size(); ++i) all[i].variable().value = std::move(made[i]);
  return *this;
}

void HookHandle::remove() {
  const std::shared_ptr<Node> node = node_.lock();
  if (node == nullptr) return;
  std::erase_if(node->pre_hooks, [this](const auto& h) { return h.id == id_; });
  std::erase_if(node->hooks, [this](const auto& h) { return h.id == id_; });
  std::erase_if(node->backward_hooks, [this](const auto& h) { return h.id == id_; });
  std::erase_if(node->backward_pre_hooks, [this](const auto& h) { return h.id == id_; });
  internal::note_structure_change();
}

HookHandle ModuleRef::register_forward_pre_hook(ForwardPreHook hook, Loc loc) const {
  const LocScope at(loc);
  return add_hook("register_forward_pre_hook", node(), node()->pre_hooks, std::move(hook));
}

HookHandle ModuleRef::register_forward_hook(ForwardHook hook, Loc loc) const {
  const LocScope at(loc);
  return add_hook("register_forward_hook", node(), node()->hooks, std::move(hook));
}

HookHandle ModuleRef::register_backward_hook(BackwardHook hook, Loc loc) const {
  const LocScope at(loc);
  return add_hook("register_backward_hook", node(), node()->backward_hooks, std::move(hook));
}

HookHandle ModuleRef::register_full_backward_pre_hook(BackwardPreHook hook, Loc loc) const {
  const LocScope at(loc);
  return add_hook("register_full_backward_pre_hook", node(), node()->backward_pre_hooks,
                  std::move(hook));
}

std::string ModuleRef::name() const {
  if (node_ == nullptr) return "Stateful";
  if (node_->layer != nullptr) return node_->layer->name();
  if (node_->owner != nullptr) return internal::type_name(typeid(*node_->owner));
  return node_->type.empty() ? "Module" : node_->type;
}

std::string ModuleRef::to_string() const {
  if (node_ == nullptr) return name() + "()";
  // Lines with the number of spaces before them; parts are put in from the last to the first.
  struct Item {
    std::string prefix;
    const Node* node;  // null: a line as it is
    int indent;
  };
  std::string out;
  std::vector<Item> stack{{"", node_.get(), 0}};
  while (!stack.empty()) {
    const Item item = std::move(stack.back());
    stack.pop_back();
    const std::string spaces(static_cast<size_t>(item.indent), ' ');
    if (!out.empty()) out += '\n';
    if (item.node == nullptr) {
      out += spaces + ")";
      continue;
    }
    const Node& node = *item.node;
    out += spaces + item.prefix;
    if (node.layer != nullptr) {
      std::vector<Array> arrays;
      for (const Node::Slot& s : node.slots) arrays.push_back(s.variable->value);
      out += node.layer->text(arrays, item.indent);
      continue;
    }
    out += ModuleRef(const_cast<Node&>(node).shared_from_this()).name() + "(";
    std::string options = node.owner == nullptr ? "" : node.owner->extra_repr();
    if (node.owner == nullptr) {  // a list of parameters
      for (const Node::Slot& s : node.slots) {
        options += (options.empty() ? "" : ", ") + s.name + "=" +
                   spruce::to_string(s.variable->value.aval());
      }
    }
    if (node.children.empty()) {
      out += options + ")";
      continue;
    }
    if (!options.empty()) out += "\n" + spaces + "  " + options;
    stack.push_back({"", nullptr, item.indent});
    for (size_t i = node.children.size(); i-- > 0;) {
      const Node::Child& c = node.children[i];
      stack.push_back({"(" + c.name + "): ", c.node.get(), item.indent + 2});
    }
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const ModuleRef& module) {
  return out << module.to_string();
}

namespace internal {

NamedArrays trainable_arrays(Node& root) { return collect(root, false, true); }

std::shared_ptr<Node> find_node(const std::shared_ptr<Node>& root, const std::string& path) {
  std::shared_ptr<Node> node = root;
  for (size_t at = 0; at < path.size() || (at > 0 && at == path.size() && path.back() == '.');) {
    const size_t end = std::min(path.find('.', at), path.size());
    const std::string name = path.substr(at, end - at);
    std::shared_ptr<Node> next;
    for (const Node::Child& c : node->children) {
      if (c.name == name) next = c.node;
    }
    if (next == nullptr) {
      const std::string where = at == 0 ? "the module" : "'" + path.substr(0, at - 1) + "'";
      throw TreeError("get_submodule: " + where + " has no part '" + name + "'; it has " +
                      part_names(*node));
    }
    node = std::move(next);
    at = end + 1;
  }
  return node;
}

void throw_other_layer(const Node& node, const std::string& path, const std::string& wanted) {
  throw TreeError("get_layer: '" + path + "' is " +
                  (node.layer != nullptr ? "a layer of type " + node.layer->name()
                                         : std::string("no layer struct")) +
                  ", not " + wanted);
}

}  // namespace internal
}  // namespace spruce::nn
