// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_call.h"

#include "spruce/nn/module_ref.h"
#include "spruce/transforms/derive/custom.h"

namespace spruce::nn::internal {
namespace {

thread_local Call* current_call = nullptr;

// The first name, also of what had no value before.
std::string name_of(const std::shared_ptr<Node>& root, const Variable& v) {
  for (const auto& [path, node] : named_nodes(root)) {
    for (const Node::Slot& s : node->slots) {
      if (s.variable.get() == &v) return (path.empty() ? "" : path + ".") + s.name;
    }
  }
  return "";
}

// "'bn.running_mean' of Net".
std::string describe(const std::shared_ptr<Node>& root, const Variable& v) {
  return "'" + name_of(root, v) + "' of " + ModuleRef(root).name();
}

[[noreturn]] void throw_traced(const char* op, const std::string& what, const char* instead) {
  throw TracerError(std::string(op) + ": " + what +
                    " would become a traced value; inside of grad, vmap or jit use "
                    "functionalize(module), which " +
                    instead + ", or put the module into evaluation mode");
}

}  // namespace

void keep(const char* op, const std::vector<Target>& targets, const std::vector<Array>& values,
          const std::vector<std::shared_ptr<Node>>& nodes, const std::vector<Key>& keys) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!values[i].is_tracer()) continue;
    throw_traced(op, describe(targets[i].module, *targets[i].variable),
                 "hands new buffers out for the loop to carry or the function to return");
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].data().is_tracer())
      throw_traced(op, "the key of " + ModuleRef(nodes[i]).name(), "takes a key at each call");
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!values[i].defined()) continue;
    if (!targets[i].variable->value.defined()) note_structure_change();
    targets[i].variable->value = values[i];
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].data().defined()) nodes[i]->key = keys[i];
  }
}

Call::Call(Node& of_module) : root(&of_module), seen_(structure_version()) {
  for (const Node* n : nodes(of_module)) listed_.insert(n);
}

Call::Call(Node& of_module, Call* loss) : Call(of_module) {
  loss_ = loss;
  key = loss == nullptr ? of_module.key : loss->guest(of_module).next_key();
  if (loss != nullptr) begun_in_ = loss->begun_in_;
}

Call::~Call() = default;

Guest& Call::guest(Node& node) {
  if (loss_ != nullptr) return loss_->guest(node);
  for (size_t i = 0; i < guests.size(); ++i) {
    Guest& g = guests[i];
    if (g.node.get() != &node) continue;
    // The loss may have given the module another one.
    if (i >= known.value_or(0) && !g.changed && g.drawn == 0) g.key = node.key;
    return g;
  }
  guests.push_back({node.shared_from_this(), node.key});
  return guests.back();
}

void Call::advance(Node& node, const Key& next) {
  Guest& g = guest(node);
  // A key of a transform within the loss is gone behind that; it is made anew from the last one.
  const uint64_t made_in = next.data().impl()->interpreter;
  if (made_in != 0 && made_in != g.key.data().impl()->interpreter) {
    ++g.drawn;
    return;
  }
  g.key = next;
  g.drawn = 0;
  g.changed = true;
}

void Call::check_guests() const {
  NewGuests found;
  for (size_t i = known.value_or(guests.size()); i < guests.size(); ++i) {
    // What lives no longer than the call is made anew in each.
    if (guests[i].node.use_count() > 1) found.nodes.push_back(guests[i].node);
  }
  if (!found.nodes.empty()) throw found;
}

void Call::read(const Node& node) {
  if (lists(node)) return;
  if (loss_ != nullptr) return loss_->read(node);
  (void)guest(const_cast<Node&>(node));
}

bool Call::lists(const Node& node) {
  if (listed_.count(&node) > 0) return true;
  if (seen_ == structure_version()) return false;
  for (const Node* n : nodes(*root)) listed_.insert(n);  // a part that forward has registered
  seen_ = structure_version();
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
  ctx.made_in = call.begun_in();
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
  if (it != values_.end()) return it->second;
  return loss_ == nullptr ? v.value : loss_->value(v);
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
  if (value.is_tracer() && value.impl()->interpreter > home_) throw_ends_within(v, value);
  values_[&v] = value;
  changed_.insert(&v);
}

void Call::throw_ends_within(const Variable& v, const Array& value) const {
  std::shared_ptr<Node> holder = root->shared_from_this();
  for (const Guest& g : guests) {
    if (name_of(holder, v).empty()) holder = g.node;
  }
  throw TracerError(
      "Module: " + describe(holder, v) + " would become " + value.impl()->describe() +
      ", which ends before the call does; let it carry or return the new value: of a layer from "
      "layer(), by a Context made inside, to update_buffers(), of an own buffer to "
      "update_buffer(); or put the module into evaluation mode");
}

uint64_t Call::move_home(uint64_t interpreter) { return std::exchange(home_, interpreter); }

std::vector<Array> Call::noted(uint64_t interpreter) {
  noted_.clear();
  std::vector<Array> out;
  for (const Target& t : targets()) {
    const Array& value = values_.at(t.variable.get());
    if (!value.is_tracer() || value.impl()->interpreter != interpreter) continue;
    noted_.push_back(t.variable.get());
    out.push_back(value);
  }
  return out;
}

void Call::replace(std::span<const Array> values) {
  for (size_t i = 0; i < values.size(); ++i) set(*noted_[i], values[i]);
}

Key next_key(const Key& key, int64_t keys_used) {
  // A number that the count of uses of a path never reaches.
  return key.data().defined() && keys_used > 0 ? random::fold_in(key, 0xffffffffu) : key;
}

Key Guest::next_key() const {
  Key next = key;
  for (int64_t i = 0; i < drawn; ++i) next = internal::next_key(next, 1);
  return next;
}

std::vector<Target> Call::targets() const {
  std::vector<Target> out;
  if (changed_.empty()) return out;
  std::unordered_set<const Variable*> seen;
  const auto add = [&](Node& module) {
    for (const Node* node : nodes(module)) {  // places() leaves out what had no value before
      for (const Node::Slot& s : node->slots) {
        if (changed(*s.variable) && seen.insert(s.variable.get()).second)
          out.push_back({module.shared_from_this(), s.variable});
      }
    }
  };
  add(*root);
  for (const Guest& g : guests) add(*g.node);
  return out;
}

void Call::commit(Loc loc) {
  if (loss_ != nullptr) {
    for (const Target& t : targets()) loss_->set(*t.variable, value(*t.variable));
    if (keys_used > 0) loss_->advance(*root, next_key());
    return;
  }
  if (changed_.empty() && keys_used == 0) return;
  const std::vector<Target> places = targets();
  std::vector<Array> next;
  for (const Target& t : places) next.push_back(value(*t.variable));
  const LocScope at(loc);
  keep("Module", places, next, {root->shared_from_this()}, {keys_used > 0 ? next_key() : Key()});
}

CallScope::CallScope(Call& call) : saved_(current_call), side_(&call) { current_call = &call; }
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

void throw_no_module() {
  throw ValueError(
      "Module: this refers to no module: a part that was not registered, as in out_ = "
      "register_module(\"out\", layer), or a module whose value was moved elsewhere; use that one");
}

void throw_other_form(const Node& node) {
  throw TreeError(
      "update_buffers: the " + node.layer->name() +
      " has another form than that of the module; pass what layer() returned, with other "
      "buffers");
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

// Throws ShapeError or DtypeError where a hook of `op` has put other kinds of arrays in the place
// of gradients.
void check_gradients(const char* op, const std::vector<Array>& changed,
                     std::span<const Array> gradients) {
  for (size_t i = 0; i < changed.size(); ++i) {
    const Aval& own = gradients[i].aval();
    const std::string text =
        std::string(op) + ": the hook put " +
        (changed[i].defined() ? to_string(changed[i].aval()) : "an undefined array") +
        " in the place of gradient " + std::to_string(i) + ", which is " + to_string(own);
    if (!changed[i].defined() || !(changed[i].shape() == own.shape)) throw ShapeError(text);
    if (changed[i].dtype() != own.dtype) throw DtypeError(text + "; convert it with astype");
  }
}

// x, with gradients that are what `change`, a hook of `op`, makes of them. Only floating arrays
// have any.
void watch(const char* op, std::vector<Array>& x, std::function<void(std::vector<Array>&)> change) {
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
  const FlatFunction backward = [op,
                                 change = std::move(change)](std::span<const Array> cotangents) {
    std::vector<Array> out(cotangents.begin(), cotangents.end());
    change(out);
    check_gradients(op, out, cotangents);
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
  watch("register_backward_hook", inputs, [hooks, self, link](std::vector<Array>& gradients) {
    for (const auto& h : hooks) h.hook(ModuleRef(self), gradients, *link);
  });
  return link;
}

void watch_outputs(Node& node, std::vector<Array>& outputs, const GradientLink& link) {
  const auto hooks = node.backward_pre_hooks;
  const auto self = node.shared_from_this();
  watch("register_full_backward_pre_hook", outputs,
        [hooks, self, link](std::vector<Array>& gradients) {
          for (const auto& h : hooks) h.hook(ModuleRef(self), gradients);
          *link = gradients;
        });
}

ValuesNow::ValuesNow(const Node& root) : call_(current_call) {
  if (call_ != nullptr) call_->read(root);
}

void update_buffer(Node& node, const Node::Slot& slot, const Array& value) {
  const std::string name = "update_buffer: '" + slot.name + "' is ";
  if (!slot.variable->buffer) throw ValueError(name + "a parameter; only buffers change in a call");
  if (current_call == nullptr)
    throw ValueError(name + "updated outside of a call; do it in forward, or use set_arrays");
  if (!current_call->lists(node)) throw_not_registered();
  const Array& own = current_call->value(*slot.variable);
  const std::string types =
      name + to_string(own.aval()) + ", the new value is " + to_string(value.aval());
  if (!(own.shape() == value.shape())) throw ShapeError(types);
  if (own.dtype() != value.dtype()) throw DtypeError(types + "; convert it with astype");
  current_call->set(*slot.variable, value);
}

Array value_in_call(const Node& node, const Variable& variable) {
  Call* call = current_call;
  if (call == nullptr) return variable.value;
  if (call->depth > 0 && !call->lists(node)) throw_not_registered();
  return ValuesNow(node)(variable);
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
