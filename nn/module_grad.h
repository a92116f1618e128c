// SPDX-License-Identifier: Apache-2.0
// Gradients of a loss that calls modules statefully, by the names of parameters.
#pragma once

#include "spruce/core/tree/named_arrays.h"
#include "spruce/nn/functionalize.h"
#include "spruce/transforms/derive/grad.h"

namespace spruce::nn {
namespace internal {

/// What the call of a loss has changed: the places, and the values that they get.
struct ChangedPlaces {
  std::vector<Target> targets;
  std::vector<std::shared_ptr<Node>> guests;
  int64_t keys_used = 0;  // from the key of the root
};
struct NewValues {
  std::vector<Array> buffers;
  std::vector<Key> keys;  // of the guests; undefined where it is the same
};
ChangedPlaces changed_places(const Call& call);
NewValues new_values(const Call& call, const ChangedPlaces& places);
/// Puts the changes into those places, all or none. Throws TracerError where one is traced.
void keep_changes(const std::shared_ptr<Node>& root, ChangedPlaces places, NewValues values);
/// The trainable parameters of a module. Throws DerivativeError, naming `op`, where there are none.
NamedArrays known_trainable(const char* op, const ModuleRef& module);
/// Puts arrays in place of parameters by name; TreeError for an unknown one.
void bind_some(Call& call, const NamedArrays& values);

}  // namespace internal

// The function of functions stays reachable beside the one of modules.
using spruce::value_and_grad;

/// {what loss() returns, its gradient by the trainable parameters of the module, by name}. loss is
/// a function without arguments that calls the module as often as it likes, and returns a number,
/// or a pair or tuple that begins with it. Other modules that loss calls are constants, but for
/// arrays that they share with this one. New buffers are kept in each of them, as by calling it,
/// once loss has returned. Inside of jit or grad use functionalize(). Throws as sp::value_and_grad;
/// nothing is changed then.
template <std::derived_from<ModuleRef> M, class F>
auto value_and_grad(M& module, const F& loss, Loc loc = Loc::current()) {
  const FunctionScope within(loc);
  const NamedArrays trained = [&] {
    const LocScope at(loc);
    return internal::known_trainable("value_and_grad", module);
  }();
  internal::ChangedPlaces changed;
  const auto run = [&](const NamedArrays& params) {
    internal::Call call(*module.node());
    call.key = module.node()->key;
    internal::bind_some(call, params);
    auto out = [&] {
      const internal::CallScope scope(call);
      return loss();
    }();
    changed = internal::changed_places(call);
    using Out = decltype(out);
    Array value = spruce::internal::LossParts<Out>::value(out);
    return std::pair{std::move(value),
                     std::pair{internal::new_values(call, changed), std::move(out)}};
  };
  auto [out, grads] = spruce::value_and_grad(run, loc)(trained);
  internal::keep_changes(module.node(), std::move(changed), std::move(out.second.first));
  return std::pair{std::move(out.second.second), std::move(grads)};
}

/// The same under a name that is found through the module: for optim::Stateful.
template <std::derived_from<ModuleRef> M, class F>
auto value_and_grad_by_name(M& module, const F& loss, Loc loc) {
  return value_and_grad(module, loss, loc);
}

}  // namespace spruce::nn
