// SPDX-License-Identifier: Apache-2.0
// What the layers inside of a model gave, without a change to the model.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spruce/nn/factory.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

/// A result with what the layers gave on the way.
template <class Y>
struct Captured {
  Y output;  ///< what the model gave
  /// By the path of the layer in the model, "blocks.0.norm": its output at each call, the h or the
  /// output alone of those that give more. A tree: jit and grad(..., {.has_aux = true}) return it.
  std::map<std::string, std::vector<Array>> values;
};

namespace internal {
/// The tree that the layers of a model stand in.
template <class M>
const auto& observed_tree(const M& model) {
  if constexpr (kIsModel<M>)
    return model.parameters();
  else
    return model;
}

template <class Y>
Captured<Y> captured(Y output, const LayerObserver& observer) {
  Captured<Y> out{std::move(output), {}};
  for (const LayerObserver::Call& call : observer.calls)
    out.values[call.path].push_back(call.output);
  return out;
}
}  // namespace internal

/// model(arguments...), with the outputs of the layers of nn in it. `model` is any tree of layers
/// that can be called, or an nn::Model; arguments may be a Context.
///
/// A layer is found by its place in the model that is called: of one that holds neither arrays nor
/// options (Identity, Flatten) and of functions such as relu there is none. A layer that is copied
/// before it is called is not found either, and what is called within scan, vmap or jit inside of
/// the model must not be used outside of it.
template <class M, class... In>
auto capture(const M& model, In&&... arguments) {
  internal::LayerObserver observer(internal::observed_tree(model));
  using Y = std::decay_t<decltype(model(std::forward<In>(arguments)...))>;
  return internal::captured<Y>(model(std::forward<In>(arguments)...), observer);
}

}  // namespace spruce::nn
