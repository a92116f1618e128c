// SPDX-License-Identifier: Apache-2.0
// The bridge: a stateful module as a pure function of its parameters and buffers, and back.
#pragma once

#include "spruce/core/tree/named_arrays.h"
#include "spruce/nn/module.h"

namespace spruce::nn {

/// What a pure call of a module needs besides arrays.
struct ApplyOptions {
  bool training = false;  ///< the mode of all modules, whatever train() and eval() have set
  Key key = {};           ///< of dropout and the like, in training
};

namespace internal {

/// Puts arrays in place of all those of the root. Throws TreeError where names are missing or
/// unknown, ShapeError where a shape differs from the module's. Parameters that are frozen become
/// constants.
void bind_names(Call& call, Node& root, const NamedArrays& params, const NamedArrays& buffers);
/// Throws TreeError, naming `op`, where the call has given a value to a buffer at or below the root
/// that has none in the module.
void check_buffers(const char* op, Node& root, const Call& call);
/// The buffers of the root in the call.
NamedArrays next_buffers(const Call& call);
/// Throws ValueError if the user's module of that node has ended.
void check_alive(const Node& node);
[[noreturn]] void throw_null_module();

/// The object that stands behind a module: a layer by itself, or the class of a user, which is
/// found through its node, wherever it has been moved to.
template <class M>
class Held {
 public:
  explicit Held(const M& module) : module_(module) {}
  const std::shared_ptr<Node>& node() const { return module_.node(); }
  const M& get() const { return module_; }

 private:
  M module_;
};
template <std::derived_from<ModuleBase> M>
class Held<M> {
 public:
  explicit Held(M& module) : node_(module.node()) {}
  explicit Held(std::shared_ptr<M> module) : node_(module->node()), owner_(std::move(module)) {}
  const std::shared_ptr<Node>& node() const { return node_; }
  M& get() const {
    check_alive(*node_);
    return static_cast<M&>(static_cast<ModuleBase&>(*node_->owner));
  }

 private:
  std::shared_ptr<Node> node_;
  std::shared_ptr<M> owner_;
};

}  // namespace internal

/// forward as a pure function: (params, buffers, options, args...) -> {result, new buffers}. The
/// module itself is not touched; it gives only the code. Safe to call from several threads.
template <class M>
class Apply {
 public:
  /// Of the library: made by functionalize().
  explicit Apply(internal::Held<M> module) : module_(std::move(module)) {}

  /// Throws TreeError where names are missing or unknown, ShapeError where a shape differs from the
  /// module's, ValueError if the module has ended, TracerError where a new buffer is a value of a
  /// loop, branch or other transform within forward, which has ended by then.
  template <class A>
  auto operator()(const NamedArrays& params, const NamedArrays& buffers,
                  const ApplyOptions& options, const A& a, Loc loc = Loc::current()) const {
    return run(loc, params, buffers, options, a);
  }
  template <class A, class B>
  auto operator()(const NamedArrays& params, const NamedArrays& buffers,
                  const ApplyOptions& options, const A& a, const B& b,
                  Loc loc = Loc::current()) const {
    return run(loc, params, buffers, options, a, b);
  }
  template <class A, class B, class C>
  auto operator()(const NamedArrays& params, const NamedArrays& buffers,
                  const ApplyOptions& options, const A& a, const B& b, const C& c,
                  Loc loc = Loc::current()) const {
    return run(loc, params, buffers, options, a, b, c);
  }
  /// With more arguments errors name no line.
  template <class A, class B, class C, class D, class... More>
  auto operator()(const NamedArrays& params, const NamedArrays& buffers,
                  const ApplyOptions& options, const A& a, const B& b, const C& c, const D& d,
                  const More&... more) const {
    return run(Loc::none(), params, buffers, options, a, b, c, d, more...);
  }

  /// Of the library: the module that gives the code.
  const internal::Held<M>& module() const { return module_; }

 private:
  template <class... Args>
  auto run(Loc loc, const NamedArrays& params, const NamedArrays& buffers,
           const ApplyOptions& options, const Args&... args) const {
    const FunctionScope within(loc);
    auto& module = get(loc);
    internal::Call call(*module_.node());
    call.mode = options.training;
    call.key = options.key;
    {
      const LocScope at(loc);
      internal::bind_names(call, *module_.node(), params, buffers);
    }
    auto y = [&] {
      const internal::CallScope scope(call);
      return module.call_at(loc, args...);
    }();
    return std::pair{std::move(y), internal::next_buffers(call)};
  }
  auto& get(Loc loc) const {
    const LocScope at(loc);
    return module_.get();
  }

  internal::Held<M> module_;
};

namespace internal {

/// Anything but a module, or a pointer that keeps one.
template <class M>
concept NoModule = !std::derived_from<std::remove_cvref_t<M>, ModuleRef>;

/// What stands for the function that there is not, so that the program has no other errors.
struct RefusedFunction {
  template <class... Args>
  Array operator()(const Args&...) const {
    return {};
  }
};
struct RefusedFunctional {
  RefusedFunction apply;
  NamedArrays params, buffers;
};

/// Says so where the program is compiled.
template <NoModule M, class Out>
Out refuse_values() {
  static_assert(!NoModule<M>,
                "spruce: this takes a module, a class derived from nn::Module; a layer of values "
                "such as nn::Linear is a pure function already: call it, or hand it to jit, grad "
                "and optimizers as it is; nn::Stateful makes a module of it");
  return {};
}

}  // namespace internal

/// A module taken apart.
template <class M>
struct Functional {
  Apply<M> apply;       ///< the module as a pure function
  NamedArrays params;   ///< name -> array, in the order of registration
  NamedArrays buffers;  ///< the same for running statistics
};

/// The pure form of a module. Its arrays are shared, not copied, and never change; parts and arrays
/// live as long as the function. The code of a Module or ModuleOf stands in the object of the
/// user's class: calling the function when that has ended throws ValueError. Hand over a
/// std::shared_ptr or the module itself (std::move) to have it kept. Throws ValueError where a lazy
/// layer has not been called yet.
template <class M>
requires(std::derived_from<M, ModuleRef>) Functional<M> functionalize(M& module,
                                                                      Loc loc = Loc::current()) {
  const LocScope at(loc);
  internal::check_made("functionalize", *module.node());
  return {Apply<M>(internal::Held<M>(module)), module.named_parameters(), module.named_buffers()};
}
/// The same, keeping the module alive. Throws ValueError for a null pointer.
template <std::derived_from<ModuleBase> M>
Functional<M> functionalize(std::shared_ptr<M> module, Loc loc = Loc::current()) {
  const LocScope at(loc);
  if (module == nullptr) internal::throw_null_module();
  internal::check_made("functionalize", *module->node());
  NamedArrays params = module->named_parameters(), buffers = module->named_buffers();
  return {Apply<M>(internal::Held<M>(std::move(module))), std::move(params), std::move(buffers)};
}
/// The same, taking the module over.
template <class M>
requires(std::derived_from<M, ModuleRef> &&
         !std::is_reference_v<M>) Functional<M> functionalize(M&& module,
                                                              Loc loc = Loc::current()) {
  if constexpr (std::derived_from<M, ModuleBase>)
    return functionalize(std::make_shared<M>(std::move(module)), loc);
  else
    return functionalize(module, loc);
}
/// Values are refused.
template <internal::NoModule M>
internal::RefusedFunctional functionalize(const M&) {
  return internal::refuse_values<M, internal::RefusedFunctional>();
}

/// Puts parameters and buffers back into a module. Throws as load_state_dict; changes nothing then.
void restore(const ModuleRef& module, const NamedArrays& params, const NamedArrays& buffers,
             Loc loc = Loc::current());

}  // namespace spruce::nn
