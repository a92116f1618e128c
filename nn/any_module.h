// SPDX-License-Identifier: Apache-2.0
// A module of any class, for lists of different ones.
#pragma once

#include <functional>

#include "spruce/nn/module.h"

namespace spruce::nn {

/// A module of any class that takes one array and gives one: a layer struct, a layer that is a
/// module already, or a Module by its shared pointer. What ModuleList and ModuleDict hold without a
/// type of their own. Copies are of the same module.
class AnyModule : public ModuleRef {
 public:
  /// A layer struct; it becomes a module.
  template <class L>
  requires(!std::is_base_of_v<ModuleRef, L> && internal::is_layer_struct<L>()) AnyModule(L layer)
      : AnyModule(Stateful<L>(std::move(layer))) {}
  /// A layer that is a module.
  template <class L>
  AnyModule(const Stateful<L>& layer)
      : ModuleRef(layer.node()),
        call_([layer](const Array& x, Loc loc) -> Array { return layer.call_at(loc, x); }) {}
  /// A module of the user's. Throws ValueError for a null pointer.
  template <std::derived_from<ModuleBase> M>
  AnyModule(const std::shared_ptr<M>& module)
      : ModuleRef(node_of(module.get())),
        call_([module](const Array& x, Loc loc) -> Array { return module->call_at(loc, x); }) {}

  /// The module's result; as a part of the module whose forward runs, or as a call of its own.
  Array operator()(const Array& x, Loc loc = Loc::current()) const { return call_(x, loc); }

 private:
  static const std::shared_ptr<internal::Node>& node_of(const ModuleBase* module);
  std::function<Array(const Array&, Loc)> call_;
};

}  // namespace spruce::nn
