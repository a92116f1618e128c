// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/functionalize.h"

#include <set>

namespace spruce::nn {
namespace {

void bind_names(internal::Call& call, internal::Node& root, const NamedArrays& params,
                const NamedArrays& buffers) {
  size_t used_params = 0, used_buffers = 0;
  for (const internal::Place& p : internal::places(root)) {
    const internal::Node::Slot& slot = p.node->slots[p.slot];
    const NamedArrays& source = slot.buffer ? buffers : params;
    const Array& value = source.at(p.name);
    if (!(value.shape() == slot.value.shape())) {
      throw ShapeError("apply: " + p.name + " is " + to_string(value.aval()) + ", the module has " +
                       to_string(slot.value.aval()));
    }
    ++(slot.buffer ? used_buffers : used_params);
    call.of(*p.node)[p.slot] = value;
  }
  if (used_params != params.size() || used_buffers != buffers.size()) {
    std::set<std::string> known[2];
    for (const internal::Place& p : internal::places(root))
      known[p.node->slots[p.slot].buffer ? 1 : 0].insert(p.name);
    std::string unknown;
    for (const auto& entry : params) {
      if (known[0].count(entry.first) == 0) unknown += "\n  parameter " + entry.first;
    }
    for (const auto& entry : buffers) {
      if (known[1].count(entry.first) == 0) unknown += "\n  buffer " + entry.first;
    }
    throw TreeError("apply: the module has no arrays of these names:" + unknown);
  }
}

}  // namespace

std::pair<Array, NamedArrays> Apply::operator()(const NamedArrays& params,
                                                const NamedArrays& buffers,
                                                const ApplyOptions& options, const Array& x,
                                                Loc loc) const {
  const FunctionScope within(loc);
  internal::Node& root = *module_->node();
  internal::Call call(root);
  call.mode = options.training;
  call.key = options.key;
  {
    const LocScope at(loc);
    bind_names(call, root, params, buffers);
  }
  Array y;
  {
    const internal::CallScope scope(call);
    y = module_->forward(x);
  }
  NamedArrays next;
  for (const internal::Place& p : internal::places(root)) {
    if (p.node->slots[p.slot].buffer) next.insert(p.name, call.values.at(p.node)[p.slot]);
  }
  return {std::move(y), std::move(next)};
}

Functional functionalize(Module& module) {
  return {Apply(module), module.named_parameters(), module.named_buffers()};
}

Functional functionalize(std::shared_ptr<Module> module, Loc loc) {
  const LocScope at(loc);
  if (module == nullptr)
    throw ValueError("functionalize: the module is a null pointer; make the module first");
  NamedArrays params = module->named_parameters(), buffers = module->named_buffers();
  return {Apply(std::move(module)), std::move(params), std::move(buffers)};
}

void restore(Module& module, const NamedArrays& params, const NamedArrays& buffers, Loc loc) {
  const LocScope at(loc);
  NamedArrays all;
  for (const NamedArrays* given : {&params, &buffers}) {
    for (const auto& [name, value] : *given) all.insert(name, value);
  }
  internal::load(internal::places(*module.node()), all, {});
}

}  // namespace spruce::nn
