// SPDX-License-Identifier: Apache-2.0
// The stateful form: modules that hold their parameters under names, as in PyTorch, and the layers
// in them.
#pragma once

#include "spruce/nn/stateful.h"

namespace spruce::nn {

/// Base of the classes that a user derives modules from, Module and ModuleOf: what they register
/// and what they read while they are called. Not copied, since the layers in a module refer to its
/// arrays; moved as a whole. Not for several threads at once: functionalize() gives a pure function
/// that is.
class ModuleBase : public ModuleRef, public internal::NodeOwner {
 public:
  /// In training mode, without parts and without a key.
  ModuleBase();
  ~ModuleBase() override;
  /// Takes over arrays and parts; the other one is not to be used again.
  ModuleBase(ModuleBase&& other) noexcept;
  ModuleBase(const ModuleBase&) = delete;
  /// Neither copied nor assigned: stateful layers refer to its arrays.
  ModuleBase& operator=(const ModuleBase&) = delete;

  /// Adds a layer struct under a name without dots. Throws ValueError for a name that is empty,
  /// dotted, or taken by a child or an own array.
  template <class L>
  requires(!std::is_convertible_v<L, std::shared_ptr<ModuleBase>> &&
           !std::is_base_of_v<ModuleRef, L>) Stateful<L> register_module(const std::string& name,
                                                                         L layer,
                                                                         Loc loc = Loc::current()) {
    const LocScope at(loc);
    Stateful<L> stateful(std::move(layer));
    add_child(name, stateful.node());
    return stateful;
  }
  /// Adds a module made elsewhere. Throws ValueError also for a null pointer, and for one that
  /// holds this module.
  template <std::derived_from<ModuleBase> M>
  std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> module,
                                     Loc loc = Loc::current()) {
    const LocScope at(loc);
    add_child(name, module == nullptr ? nullptr : module->node());
    return module;
  }
  /// Adds a layer that is a module already, or a ModuleList or ModuleDict.
  template <class M>
  requires(std::is_base_of_v<ModuleRef, M> && !std::is_base_of_v<ModuleBase, M>) M
      register_module(const std::string& name, M module, Loc loc = Loc::current()) {
    const LocScope at(loc);
    add_child(name, module.node());
    return module;
  }
  /// register_module under PyTorch's other name.
  template <class M>
  auto add_module(const std::string& name, M module, Loc loc = Loc::current()) {
    return register_module(name, std::move(module), loc);
  }
  /// Puts a module in the place of the child of that name, and returns it: what refers to the old
  /// one has to be assigned, as in block_ = replace_module("block", std::make_shared<Block>()).
  /// Throws TreeError for an unknown name, ValueError as register_module.
  template <class M>
  auto replace_module(const std::string& name, M module, Loc loc = Loc::current()) {
    const LocScope at(loc);
    const size_t place = child_index(name);
    internal::Node::Child old = take_child(place);
    try {
      auto added = register_module(name, std::move(module), loc);
      move_last_child(place);
      return added;
    } catch (...) {
      put_child(place, std::move(old));
      throw;
    }
  }
  /// Adds an array of the module's own; parameter(name) reads it in forward. Buffers stand behind
  /// the parameters.
  void register_parameter(const std::string& name, const Array& value, Loc loc = Loc::current());
  /// The same for what is not trained. One that is not persistent is in no state_dict.
  void register_buffer(const std::string& name, const Array& value, bool persistent = true,
                       Loc loc = Loc::current());
  /// The value of an own array in the running call. Throws TreeError for an unknown name.
  Array parameter(const std::string& name, Loc loc = Loc::current()) const;
  Array buffer(const std::string& name, Loc loc = Loc::current()) const {
    return parameter(name, loc);
  }
  /// A new value for an own buffer, kept after the call. Throws ShapeError or DtypeError unless it
  /// has the buffer's shape and dtype, TreeError for an unknown name, ValueError for a parameter
  /// and outside of a call.
  void update_buffer(const std::string& name, const Array& value, Loc loc = Loc::current());

 private:
  void check_name(const char* op, const std::string& name) const;
  void add_child(const std::string& name, std::shared_ptr<internal::Node> node);
  void add_slot(const std::string& name, const Array& value, bool buffer, bool persistent);
  size_t find_slot(const std::string& name) const;
  size_t child_index(const std::string& name) const;
  internal::Node::Child take_child(size_t place);
  void put_child(size_t place, internal::Node::Child child);
  void move_last_child(size_t place);
};

/// Base of stateful models whose forward takes one array and returns one. A subclass registers its
/// parts in the constructor and overrides forward; calling the module runs forward, with running
/// statistics updated in training mode.
class Module : public ModuleBase {
 public:
  /// What the module computes. Called through operator().
  virtual Array forward(const Array& x) = 0;
  /// forward(x), each module and layer in its own mode. Inside of another module's forward it is a
  /// part of that call, and has to be registered there: ValueError where it is not. Throws
  /// TracerError if new running statistics or the next key would be traced values: functionalize()
  /// hands them out, and takes a key, instead. In forward a loop or other transform has to carry or
  /// return them (Stateful::update_buffers); checkpoint does so by itself.
  Array operator()(const Array& x, Loc loc = Loc::current()) { return call_at(loc, x); }

  /// Of the library: the call, of a line that is known.
  Array call_at(Loc loc, const Array& x) {
    return internal::call_module(
        *node(), loc, [this](const Array& a) { return forward(a); }, x);
  }
};

/// Base of stateful models whose forward takes and returns anything: several arrays, states, masks,
/// options; trees and what is none.
///   struct Decoder : nn::ModuleOf<Decoder> {
///     std::pair<Array, State> forward(const Array& x, const State& state, const Mask& mask = {});
///   };
/// forward is a public member function, which may be overloaded, a template, or have defaults.
template <class Derived>
class ModuleOf : public ModuleBase {
 public:
  /// forward(args...), as Module's call operator.
  template <class A>
  auto operator()(const A& a, Loc loc = Loc::current()) {
    return call_at(loc, a);
  }
  template <class A, class B>
  auto operator()(const A& a, const B& b, Loc loc = Loc::current()) {
    return call_at(loc, a, b);
  }
  template <class A, class B, class C>
  auto operator()(const A& a, const B& b, const C& c, Loc loc = Loc::current()) {
    return call_at(loc, a, b, c);
  }
  template <class A, class B, class C, class D>
  auto operator()(const A& a, const B& b, const C& c, const D& d, Loc loc = Loc::current()) {
    return call_at(loc, a, b, c, d);
  }
  /// With more arguments errors name no line.
  template <class A, class B, class C, class D, class E, class... More>
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e, const More&... more) {
    return call_at(Loc::none(), a, b, c, d, e, more...);
  }

  /// Of the library: the call, of a line that is known.
  template <class... Args>
  auto call_at(Loc loc, const Args&... args) {
    constexpr bool kFits = requires(Derived & self) { self.forward(args...); };
    static_assert(kFits,
                  "spruce: the forward of this ModuleOf does not take the arguments that the "
                  "module is called with; it is a public member function, and takes them by value "
                  "or const reference");
    if constexpr (kFits) {
      return internal::call_module(
          *node(), loc,
          [this](const Args&... a) { return static_cast<Derived&>(*this).forward(a...); }, args...);
    } else {
      return spruce::internal::refused<Array>();
    }
  }
};

}  // namespace spruce::nn
