// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_grad.h"

namespace spruce::nn::internal {

NamedArrays changed_buffers(const Call& call) {
  NamedArrays out;
  for (const Place& p : places(*call.root)) {
    if (call.changed(p.variable())) out.insert(p.name, call.value(p.variable()));
  }
  return out;
}

void keep_call(const ModuleRef& module, const NamedArrays& buffers, const Key& next) {
  for (const auto& [name, value] : buffers) {
    if (value.is_tracer()) throw_traced_buffer("value_and_grad", name);
  }
  module.set_arrays(buffers);
  module.node()->key = next;
}

void bind_some(Call& call, const NamedArrays& values) {
  size_t found = 0;
  for (const Place& p : places(*call.root)) {
    if (const Array* value = values.find(p.name)) {
      call.bind(p.variable(), *value);
      ++found;
    }
  }
  if (found != values.size())
    throw TreeError("value_and_grad: a parameter is not in the module any more");
}

}  // namespace spruce::nn::internal
