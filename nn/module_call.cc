// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_call.h"

#include "spruce/nn/module_ref.h"
#include "spruce/transforms/derive/custom.h"

namespace spruce::nn::internal {
namespace {

thread_local Call* current_call = nullptr;

std::string name_of(Node& root, const Variable& v) {
  for (const Place& p : places(root)) {
    if (&p.variable() == &v) return p.name;
  }
  return "";
}

}  // namespace

Call::Call(Node& of_module) : root(&of_module) {
  for (const Node* n : nodes(of_module)) listed_.insert(n);
}

Call::~Call() = default;

bool Call::lists(const Node& node) {
  if (listed_.count(&node) > 0) return true;
  for (const Node* n : nodes(*root)) listed_.insert(n);  // a part that forward has registered
  return listed_.count(&node) > 0;
}

const std::string& Call::path(const Node& node) {
  if (paths_.count(&node) == 0) {
    for (auto& [path, n] : named_nodes(root->shared_from_this())) paths_.emplace(n.get(), path);
  }
  return paths_[&node];
}

std::string ModuleScope::whole() const { return ModuleRef(call_.root->shared_from_this()).name(); }
std::string ModuleScope::path(const std::string&) const { return call_.path(node_); }
std::string ModuleScope::type() const {
  return ModuleRef(const_cast<Node&>(node_).shared_from_this()).name();
}

KeyScope::KeyScope(Call& call, Context& ctx, const Node& node) : call_(call), ctx_(ctx) {
  ctx.key = call.key;
  ctx.keys_used = call.keys_used;
  ctx.uses.swap(call.uses);
  if (ctx.key.data().defined()) ctx.push_name(call.path(node));
}

KeyScope::~KeyScope() {
  call_.keys_used = ctx_.keys_used;
  call_.uses.swap(ctx_.uses);
}

const Array& Call::value(const Variable& v) const {
  const auto it = values_.find(&v);
  return it == values_.end() ? v.value : it->second;
}

std::vector<Array> Call::values(const Node& node) const {
  std::vector<Array> out;
  out.reserve(node.slots.size());
  for (const Node::Slot& s : node.slots) out.push_back(value(*s.variable));
  return out;
}

void Call::bind(const Variable& v, const Array& value) { values_[&v] = value; }

bool Call::changed(const Variable& v) const { return changed_.count(&v) > 0; }

void Call::set(const Variable& v, const Array& value) {
  values_[&v] = value;
  changed_.insert(&v);
}

Key next_key(const Key& key, int64_t keys_used) {
  // A number that the count of uses of a path never reaches.
  return key.data().defined() && keys_used > 0 ? random::fold_in(key, 0xffffffffu) : key;
}

void throw_traced_buffer(const char* op, const std::string& name) {
  throw TracerError(std::string(op) + ": '" + name +
                    "' would become a traced value; inside of grad, vmap or jit use "
                    "functionalize(module), which hands new buffers out");
}

void Call::commit(Loc loc) {
  for (const Variable* v : changed_) {
    if (!values_.at(v).is_tracer()) continue;
    const LocScope at(loc);
    throw_traced_buffer("Module", name_of(*root, *v));
  }
  for (const Node* node : nodes(*root)) {  // places() leaves out what had no value before
    for (const Node::Slot& s : node->slots) {
      if (!changed(*s.variable)) continue;
      if (!s.variable->value.defined()) note_structure_change();
      s.variable->value = values_.at(s.variable.get());
    }
  }
  root->key = next_key();
}

CallScope::CallScope(Call& call) : saved_(current_call) { current_call = &call; }
CallScope::~CallScope() { current_call = saved_; }
Call* CallScope::current() { return current_call; }

Call* call_around(const Node& node, Loc loc) {
  Call* call = current_call;
  if (call == nullptr || call->lists(node)) return call;
  if (call->depth == 0) return nullptr;
  const LocScope at(loc);
  throw_not_registered();
}

void throw_not_registered() {
  throw ValueError(
      "Module: a part that is not registered is called, so that its arrays are in no list; set it "
      "in the constructor, as in out_ = register_module(\"out\", layer)");
}

void throw_no_layer() {
  throw ValueError(
      "Stateful: it holds no layer yet; give it one, as in out_ = register_module(\"out\", "
      "nn::Linear::init(key, 4, 2))");
}

void run_pre_hooks(Node& node, std::vector<Array>& inputs) {
  const auto hooks = node.pre_hooks;  // one may take itself away
  for (const auto& h : hooks) h.hook(ModuleRef(node.shared_from_this()), inputs);
}

void run_hooks(Node& node, const std::vector<Array>& inputs, std::vector<Array>& outputs) {
  const auto hooks = node.hooks;
  for (const auto& h : hooks) h.hook(ModuleRef(node.shared_from_this()), inputs, outputs);
}

namespace {

// x, with gradients that are what `change` makes of them. Only floating arrays have any.
void watch(std::vector<Array>& x, std::function<void(std::vector<Array>&)> change) {
  using spruce::internal::FlatFunction;
  std::vector<size_t> places;
  std::vector<Array> floating;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!x[i].defined() || !is_floating(x[i].dtype())) continue;
    places.push_back(i);
    floating.push_back(x[i]);
  }
  if (places.empty()) return;
  const FlatFunction same = [](std::span<const Array> in) {
    return std::vector<Array>(in.begin(), in.end());
  };
  const FlatFunction backward = [change = std::move(change)](std::span<const Array> cotangents) {
    std::vector<Array> out(cotangents.begin(), cotangents.end());
    change(out);
    return out;
  };
  const std::vector<Array> watched =
      bind_custom(spruce::internal::make_custom_vjp(
                      same, same, backward, std::make_shared<std::atomic<size_t>>(places.size())),
                  floating);
  for (size_t i = 0; i < places.size(); ++i) x[places[i]] = watched[i];
}

}  // namespace

GradientLink watch_inputs(Node& node, std::vector<Array>& inputs) {
  const auto link = std::make_shared<std::vector<Array>>();
  const auto hooks = node.backward_hooks;
  const auto self = node.shared_from_this();
  watch(inputs, [hooks, self, link](std::vector<Array>& gradients) {
    for (const auto& h : hooks) h.hook(ModuleRef(self), gradients, *link);
  });
  return link;
}

void watch_outputs(Node& node, std::vector<Array>& outputs, const GradientLink& link) {
  const auto hooks = node.backward_pre_hooks;
  const auto self = node.shared_from_this();
  watch(outputs, [hooks, self, link](std::vector<Array>& gradients) {
    for (const auto& h : hooks) h.hook(ModuleRef(self), gradients);
    *link = gradients;
  });
}

Array value_in_call(const Node& node, const Variable& variable) {
  Call* call = current_call;
  if (call == nullptr) return variable.value;
  if (!call->lists(node)) throw_not_registered();
  return call->value(variable);
}

void make_lazy(Node& node, const Array& x) {
  Node made;
  node.make(made, x);
  for (const Node::Slot& s : made.slots) {
    if (s.variable->value.is_tracer()) {
      throw TracerError(
          "Stateful: a lazy layer is called for the first time inside of a transform, and its "
          "arrays would be traced; call the module once before, at an example");
    }
  }
  node.slots = std::move(made.slots);
  node.layer = std::move(made.layer);
  node.make = nullptr;
  note_structure_change();
}

}  // namespace spruce::nn::internal
