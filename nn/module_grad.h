// SPDX-License-Identifier: Apache-2.0
// Gradients of a loss that calls modules statefully, by the names of parameters.
#pragma once

#include "spruce/core/tree/named_arrays.h"
#include "spruce/nn/functionalize.h"
#include "spruce/transforms/derive/grad.h"

namespace spruce::nn {
namespace internal {

/// Buffers that a call has changed, by name.
NamedArrays changed_buffers(const Call& call);
/// Puts them into the module, and the key of its next call.
void keep_call(const ModuleRef& module, const NamedArrays& buffers, const Key& next);
/// Puts arrays in place of parameters by name; TreeError for an unknown one.
void bind_some(Call& call, const NamedArrays& values);

}  // namespace internal

// The function of functions stays reachable beside the one of modules.
using spruce::value_and_grad;

/// {what loss() returns, its gradient by the trainable parameters of the module, by name}. loss is
/// a function without arguments that calls the module as often as it likes, and returns a number,
/// or a pair or tuple that begins with it. New buffers are kept in the module, as by calling it,
/// once loss has returned. Inside of jit or grad use functionalize(). Throws as sp::value_and_grad;
/// nothing is changed then.
template <std::derived_from<ModuleRef> M, class F>
auto value_and_grad(M& module, const F& loss, Loc loc = Loc::current()) {
  const FunctionScope within(loc);
  int64_t keys_used = 0;
  const auto run = [&](const NamedArrays& params) {
    internal::Call call(*module.node());
    call.key = module.node()->key;
    internal::bind_some(call, params);
    auto out = [&] {
      const internal::CallScope scope(call);
      return loss();
    }();
    keys_used = call.keys_used;
    using Out = decltype(out);
    Array value = spruce::internal::LossParts<Out>::value(out);
    return std::pair{std::move(value), std::pair{internal::changed_buffers(call), std::move(out)}};
  };
  auto [out, grads] = spruce::value_and_grad(run, loc)(module.trainable_parameters());
  internal::keep_call(module, out.second.first, internal::next_key(module.node()->key, keys_used));
  return std::pair{std::move(out.second.second), std::move(grads)};
}

/// The same under a name that is found through the module: for optim::Stateful.
template <std::derived_from<ModuleRef> M, class F>
auto value_and_grad_by_name(M& module, const F& loss, Loc loc) {
  return value_and_grad(module, loss, loc);
}

}  // namespace spruce::nn
