// SPDX-License-Identifier: Apache-2.0
// Modules as compiled functions: their present arrays are read at each call, and new buffers
// written back.
#pragma once

#include "spruce/nn/module_grad.h"
#include "spruce/transforms/compile/jit.h"

namespace spruce::nn {
namespace internal {

/// The arrays of a module in a fixed order, and a number for its form: names, modes, options,
/// hooks, what is frozen. Both are looked up again only where some module has changed in more than
/// values.
class Bound {
 public:
  explicit Bound(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  /// Brings all up to date.
  void refresh();
  const std::shared_ptr<Node>& node() const { return node_; }
  int64_t form() const { return form_; }
  const std::vector<std::shared_ptr<Variable>>& variables() const { return variables_; }
  std::vector<Array> values() const;
  const std::vector<std::string>& names() const { return names_; }
  /// Those of the values that are trained, by name.
  NamedArrays trainable(const std::vector<Array>& values) const;
  /// Puts the values in place of the module's own.
  void bind(Call& call, const std::vector<Array>& values) const;
  /// The new buffers of a call at their places; undefined elsewhere.
  std::vector<Array> changed(const Call& call) const;
  /// Puts defined arrays into the variables, and a defined key into the node. Throws TracerError,
  /// and changes nothing, where one is traced.
  void keep(const std::vector<Array>& next, const Key& key) const;

 private:
  std::shared_ptr<Node> node_;
  uint64_t seen_ = 0;
  int64_t form_ = -1;
  std::vector<std::string> forms_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<Variable>> variables_;
};

/// The key that the next call has, undefined where it is the same.
Key key_after(const Call& call);
/// Puts params + updates, by name, to their places among the variables.
void put_updated(const Bound& bound, const NamedArrays& params, const NamedArrays& updates,
                 std::vector<Array>& values);

}  // namespace internal

/// A module behind a compiled function. Called like the module, each part in its own mode, with the
/// arrays that it has now; new buffers and the next key are written back. Traced once for each form
/// of the arguments and of the module: a changed value does not trace again, a changed mode, layer,
/// hook, freezing or shape does. Not for several threads at once. Inside of another module's
/// forward it is the module itself.
template <class M>
class CompiledModule {
 public:
  /// Of the library: made by compile().
  explicit CompiledModule(internal::Held<M> module)
      : state_(std::make_shared<State>(State{module, internal::Bound(module.node())})),
        function_(Trace{state_}, {.name = "module"}) {}

  /// What the module gives. Throws what it throws, and TracerError where new buffers would be
  /// traced values.
  template <class A>
  auto operator()(const A& a, Loc loc = Loc::current()) const {
    return run(loc, a);
  }
  template <class A, class B>
  auto operator()(const A& a, const B& b, Loc loc = Loc::current()) const {
    return run(loc, a, b);
  }
  template <class A, class B, class C>
  auto operator()(const A& a, const B& b, const C& c, Loc loc = Loc::current()) const {
    return run(loc, a, b, c);
  }
  /// With more arguments errors name no line.
  template <class A, class B, class C, class D, class... More>
  auto operator()(const A& a, const B& b, const C& c, const D& d, const More&... more) const {
    return run(Loc::none(), a, b, c, d, more...);
  }
  /// How many times the module has been traced.
  int64_t trace_count() const { return function_.trace_count(); }
  /// Why it was traced the last time.
  std::string explain_retrace() const { return function_.explain_retrace(); }

 private:
  struct State {
    internal::Held<M> module;
    internal::Bound bound;
  };
  struct Trace {
    std::shared_ptr<State> state;
    template <class... Args>
    auto operator()(const std::vector<Array>& values, const Key& key, int64_t,
                    const Args&... args) const {
      internal::Call call(*state->bound.node());
      call.key = key;
      state->bound.bind(call, values);
      auto y = [&] {
        const internal::CallScope scope(call);
        return state->module.get().call_at(Loc::none(), args...);
      }();
      return std::tuple{std::move(y), state->bound.changed(call), internal::key_after(call)};
    }
  };
  template <class... Args>
  auto run(Loc loc, const Args&... args) const {
    const FunctionScope within(loc);
    const std::shared_ptr<internal::Node>& node = state_->bound.node();
    using Result = std::decay_t<decltype(state_->module.get().call_at(loc, args...))>;
    if (internal::call_around(*node, loc) != nullptr)
      return Result(state_->module.get().call_at(loc, args...));
    state_->bound.refresh();
    auto [y, next, key] =
        function_(state_->bound.values(), node->key, state_->bound.form(), args...);
    const LocScope at(loc);
    state_->bound.keep(next, key);
    return Result(std::move(y));
  }

  std::shared_ptr<State> state_;
  Jitted<Trace> function_;
};

/// The module as a compiled function, which refers to it as functionalize() does. Call it in place
/// of the module: const auto fast = nn::compile(net); fast(x).
template <class M>
requires(std::derived_from<M, ModuleRef>) CompiledModule<M> compile(M& module) {
  return CompiledModule<M>(internal::Held<M>(module));
}
/// The same, keeping the module alive. Throws ValueError for a null pointer.
template <std::derived_from<ModuleBase> M>
CompiledModule<M> compile(std::shared_ptr<M> module, Loc loc = Loc::current()) {
  const LocScope at(loc);
  if (module == nullptr) internal::throw_null_module();
  return CompiledModule<M>(internal::Held<M>(std::move(module)));
}

/// A training step of a module as one compiled function: the loss, its gradient, the optimizer and
/// the new buffers. Made by compile_step().
template <class M, class Optimizer, class Loss>
class CompiledStep {
 public:
  /// The state of the optimizer: of the trainable parameters by name.
  using State = decltype(std::declval<const Optimizer&>().init(std::declval<NamedArrays>()));

  /// Of the library: made by compile_step().
  CompiledStep(internal::Held<M> module, Optimizer optimizer, Loss loss)
      : shared_(std::make_shared<Shared>(
            Shared{module, internal::Bound(module.node()), std::move(optimizer), std::move(loss)})),
        function_(Trace{shared_}, {.name = "module step"}) {
    shared_->bound.refresh();
    state_ = shared_->optimizer.init(shared_->bound.trainable(shared_->bound.values()));
  }

  /// One step on these arguments of the loss: what loss(module, args...) gives, before the step.
  /// The module has new parameters and buffers afterwards. Throws what the loss throws; nothing is
  /// changed then.
  template <class... Args>
  Array operator()(const Args&... args) {
    shared_->bound.refresh();
    auto [value, next, key, state] = function_(shared_->bound.values(), shared_->bound.node()->key,
                                               shared_->bound.form(), state_, args...);
    shared_->bound.keep(next, key);
    state_ = std::move(state);
    return value;
  }
  /// The state of the optimizer.
  const State& state() const { return state_; }
  /// How many times the step has been traced.
  int64_t trace_count() const { return function_.trace_count(); }

 private:
  struct Shared {
    internal::Held<M> module;
    internal::Bound bound;
    Optimizer optimizer;
    Loss loss;
  };
  struct Trace {
    std::shared_ptr<Shared> shared;
    template <class... Args>
    auto operator()(const std::vector<Array>& values, const Key& key, int64_t, const State& state,
                    const Args&... args) const {
      const internal::Bound& bound = shared->bound;
      const NamedArrays params = bound.trainable(values);
      const auto run = [&](const NamedArrays& p) {
        internal::Call call(*bound.node());
        call.key = key;
        bound.bind(call, values);
        internal::bind_some(call, p);
        Array value = [&] {
          const internal::CallScope scope(call);
          return shared->loss(shared->module.get(), args...);
        }();
        return std::pair{std::move(value),
                         std::pair{bound.changed(call), internal::key_after(call)}};
      };
      const auto [out, grads] = spruce::value_and_grad(run)(params);
      auto [updates, next_state] = shared->optimizer.update(grads, state, params);
      std::vector<Array> next = out.second.first;
      internal::put_updated(bound, params, updates, next);
      return std::tuple<Array, std::vector<Array>, Key, State>(
          out.first, std::move(next), out.second.second, std::move(next_state));
    }
  };

  std::shared_ptr<Shared> shared_;
  Jitted<Trace> function_;
  State state_;
};

/// A training step as one compiled function: const auto step = nn::compile_step(net,
/// optim::adam(), [](Net& net, const Array& x, const Array& y) { return nn::mse_loss(net(x), y);
/// }); then value = step(x, y). It refers to the module as functionalize() does. The numbers are
/// those of the pure loop.
template <class M, class Optimizer, class Loss>
requires(std::derived_from<M, ModuleRef>)
    CompiledStep<M, Optimizer, Loss> compile_step(M& module, Optimizer optimizer, Loss loss) {
  return CompiledStep<M, Optimizer, Loss>(internal::Held<M>(module), std::move(optimizer),
                                          std::move(loss));
}

}  // namespace spruce::nn
