// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_grad.h"

namespace spruce::nn::internal {

ChangedPlaces changed_places(const Call& call) {
  ChangedPlaces out{call.targets(), {}, call.keys_used};
  for (const Guest& g : call.guests) out.guests.push_back(g.node);
  return out;
}

NewValues new_values(const Call& call, const ChangedPlaces& places) {
  NewValues out;
  for (const Target& t : places.targets) out.buffers.push_back(call.value(*t.variable));
  for (const Guest& g : call.guests) out.keys.push_back(g.new_key());
  return out;
}

void keep_changes(const std::shared_ptr<Node>& root, ChangedPlaces places, NewValues values) {
  if (places.keys_used > 0) {  // the loss may have given the root another key
    places.guests.push_back(root);
    values.keys.push_back(next_key(root->key, places.keys_used));
  }
  keep("value_and_grad", places.targets, values.buffers, places.guests, values.keys);
}

NamedArrays known_trainable(const char* op, const ModuleRef& module) {
  check_made(op, *module.node());
  NamedArrays out = trainable_arrays(*module.node());
  if (!out.empty()) return out;
  const bool frozen = !module.named_parameters().empty();
  throw DerivativeError(std::string(op) + ": " + module.name() +
                        (frozen ? " has no parameters that are trained, all are frozen; let some "
                                  "be trained by requires_grad(true) or requires_grad(path)"
                                : " has no parameters; pass the module that has them"));
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
