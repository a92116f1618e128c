// SPDX-License-Identifier: Apache-2.0
// capture(), count() and summary() of modules.
#pragma once

#include "spruce/nn/functionalize.h"
#include "spruce/nn/summary.h"

namespace spruce::nn {

/// How many numbers a module learns: the elements of its parameters, each counted once, frozen ones
/// too. Those of lazy layers are missing until the first call.
int64_t count(const ModuleRef& module);
/// The same of a class that is one.
template <std::derived_from<ModuleRef> M>
int64_t count(const M& module) {
  return count(static_cast<const ModuleRef&>(module));
}

/// module(arguments...), with the outputs of the layers in it by their paths, as of any model. It
/// is a call as any other: running statistics and the key go on.
template <std::derived_from<ModuleRef> M, class... In>
auto capture(M& module, In&&... arguments) {
  internal::LayerObserver observer;
  using Y = std::decay_t<decltype(module(std::forward<In>(arguments)...))>;
  return internal::captured<Y>(module(std::forward<In>(arguments)...), observer);
}

namespace internal {
Summary summary_of(const LayerObserver& observer, const ModuleRef& module);
}  // namespace internal

/// The layers of module(inputs...) in evaluation mode, as of any model: std::cout <<
/// nn::summary(net, x). The module is traced, not run, and stays as it is. Throws ValueError where
/// a lazy layer has not been called yet.
template <std::derived_from<ModuleRef> M, class... In>
Summary summary(M& module, In&&... inputs) {
  const auto f = functionalize(module);
  internal::LayerObserver observer;
  Summary out;
  internal::run_traced(
      [&](auto&&... x) {
        static_cast<void>(f.apply(f.params, f.buffers, {}, x...));
        out = internal::summary_of(observer, module);
      },
      inputs...);
  return out;
}

}  // namespace spruce::nn
