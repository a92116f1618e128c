// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/functionalize.h"

#include <set>

#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce::nn {
namespace internal {

void bind_names(Call& call, Node& root, const NamedArrays& params, const NamedArrays& buffers) {
  size_t used_params = 0, used_buffers = 0;
  const std::vector<Place> all = places(root);
  for (const Place& p : all) {
    const Variable& v = p.variable();
    const NamedArrays& source = v.buffer ? buffers : params;
    const Array& value = source.at(p.name);
    if (!(value.shape() == v.value.shape())) {
      throw ShapeError("apply: " + p.name + " is " + to_string(value.aval()) + ", the module has " +
                       to_string(v.value.aval()));
    }
    ++(v.buffer ? used_buffers : used_params);
    call.bind(v, v.buffer || v.requires_grad || !value.is_tracer() ? value : stop_gradient(value));
  }
  if (used_params != params.size() || used_buffers != buffers.size()) {
    std::set<std::string> known[2];
    for (const Place& p : all) known[p.variable().buffer ? 1 : 0].insert(p.name);
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

void check_buffers(const char* op, Node& root, const Call& call) {
  for (const auto& [path, node] : named_nodes(root.shared_from_this())) {
    for (const Node::Slot& s : node->slots) {
      if (s.variable->value.defined() || !call.changed(*s.variable)) continue;
      throw TreeError(std::string(op) + ": a layer has updated '" + join_path(path, s.name) +
                      "', which has no array in the module; give it one before, or call the "
                      "module once at an example");
    }
  }
}

NamedArrays next_buffers(const Call& call) {
  check_buffers("apply", *call.root, call);
  NamedArrays next;
  next.set_holds_buffers(true);
  for (const Place& p : places(*call.root)) {
    if (p.variable().buffer) next.insert(p.name, call.value(p.variable()));
  }
  return next;
}

void check_alive(const Node& node) {
  if (node.owner == nullptr) {
    throw ValueError(
        "functionalize: the module has ended, and with it the code of its forward; let it live as "
        "long, or hand over a std::shared_ptr to it");
  }
}

void throw_null_module() {
  throw ValueError("functionalize: the module is a null pointer; make the module first");
}

}  // namespace internal

void restore(const ModuleRef& module, const NamedArrays& params, const NamedArrays& buffers,
             Loc loc) {
  const LocScope at(loc);
  NamedArrays all;
  for (const NamedArrays* given : {&params, &buffers}) {
    for (const auto& [name, value] : *given) all.insert(name, value);
  }
  internal::load(*module.node(), internal::places(*module.node()), all, {});
}

}  // namespace spruce::nn
