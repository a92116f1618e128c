// SPDX-License-Identifier: Apache-2.0
// Modules as compiled functions: their present arrays are read at each call, and new buffers
// written back.
#pragma once

#include "spruce/core/named_shapes.h"
#include "spruce/core/update_part.h"
#include "spruce/nn/module_grad.h"
#include "spruce/transforms/compile/jit.h"

namespace spruce::nn {
namespace internal {

/// The arrays of a module in a fixed order, then those of other modules that its calls use, and a
/// number for the form of all: names, modes, options, hooks, what is frozen. They are looked up
/// again only where some module has changed in more than values.
class Bound {
 public:
  explicit Bound(std::shared_ptr<Node> node) : nodes_{std::move(node)} {}
  /// f(), with all up to date, and once more with the guests that it turns out to have. Throws
  /// ValueError where it has other ones then.
  template <class F>
  auto with_guests(const F& f) {
    refresh();
    try {
      return f();
    } catch (const NewGuests& found) {
      add(found);
    }
    refresh();
    try {
      return f();
    } catch (const NewGuests&) {
      throw_new_modules();
    }
  }
  /// Brings all up to date.
  void refresh();
  const std::shared_ptr<Node>& node() const { return nodes_[0]; }
  int64_t form() const { return form_; }
  /// The arrays and keys, in the call of a loss (or null) those of the call.
  std::vector<Array> values(const Call* loss = nullptr) const;
  std::vector<Key> keys(Call* loss = nullptr) const;
  /// Those of the values that are trained, by name.
  NamedArrays trainable(const std::vector<Array>& values) const;
  /// Gives the call the values and keys in place of the modules' own, and the guests.
  void bind(Call& call, const std::vector<Array>& values, const std::vector<Key>& keys) const;
  /// The new buffers of a call at their places; undefined elsewhere. Throws TreeError where there
  /// is no place for one.
  std::vector<Array> changed(const Call& call) const;
  /// The keys that the next calls have; undefined where it is the same.
  std::vector<Key> keys_after(const Call& call) const;
  /// Puts defined arrays into the variables, and defined keys into the nodes, or both into the call
  /// of a loss. Throws TracerError, and changes nothing, where a module would have a traced one.
  void keep(const std::vector<Array>& next, const std::vector<Key>& keys,
            Call* loss = nullptr) const;
  /// Puts params + updates, by name, to their places among the values.
  void put_updated(const NamedArrays& params, const NamedArrays& updates,
                   std::vector<Array>& values) const;

 private:
  void add(const NewGuests& found);
  [[noreturn]] static void throw_new_modules();

  std::vector<std::shared_ptr<Node>> nodes_;  // the module, and guests
  uint64_t seen_ = 0;
  int64_t form_ = -1;
  std::vector<std::string> forms_;
  size_t own_ = 0;  // how many of the arrays are the module's
  std::vector<std::string> names_;
  std::vector<Target> targets_;
};

}  // namespace internal

/// A module behind a compiled function. Called like the module, each part in its own mode, with the
/// arrays that it has now; new buffers and the next key are written back. Traced once for each form
/// of the arguments and of the module: a changed value does not trace again, a changed mode, layer,
/// hook, freezing or shape does. Not for several threads at once. Inside of another module's
/// forward, and of the loss of a compile_step(), it is the module itself.
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
    auto operator()(const std::vector<Array>& values, const std::vector<Key>& keys, int64_t,
                    const Args&... args) const {
      internal::Call call(*state->bound.node());
      state->bound.bind(call, values, keys);
      auto y = [&] {
        const internal::CallScope scope(call);
        return state->module.get().call_at(Loc::none(), args...);
      }();
      call.check_guests();
      return std::tuple{std::move(y), state->bound.changed(call), state->bound.keys_after(call)};
    }
  };
  template <class... Args>
  auto run(Loc loc, const Args&... args) const {
    const FunctionScope within(loc);
    internal::Bound& bound = state_->bound;
    using Result = std::decay_t<decltype(state_->module.get().call_at(loc, args...))>;
    internal::Call* const loss = internal::CallScope::current();
    if (loss != nullptr && (loss->known || internal::call_around(*bound.node(), loc) != nullptr))
      return Result(state_->module.get().call_at(loc, args...));
    auto [y, next, keys] = bound.with_guests(
        [&] { return function_(bound.values(loss), bound.keys(loss), bound.form(), args...); });
    const LocScope at(loc);
    bound.keep(next, keys, loss);
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
/// Values are refused.
template <internal::NoModule M>
internal::RefusedFunction compile(const M&) {
  return internal::refuse_values<M, internal::RefusedFunction>();
}

namespace internal {

/// What a step returns whose loss returns Out: a number as an array, what begins with one as it is.
template <class Out>
using StepResult = std::conditional_t<spruce::internal::LossParts<std::decay_t<Out>>::kAux,
                                      std::decay_t<Out>, Array>;

/// The loss of a step takes the module and the arguments, and returns what a step can return.
template <class Loss, class Module, class... Args>
constexpr bool check_step_loss() {
  constexpr bool takes = std::is_invocable_v<Loss, Module, Args...>;
  static_assert(takes,
                "spruce: the loss of compile_step is called as loss(module, args...) with what the "
                "step is called with, and does not take it; arguments come as const references");
  if constexpr (takes) {
    using Out = std::invoke_result_t<Loss, Module, Args...>;
    constexpr bool ok = std::is_convertible_v<Out, StepResult<Out>>;
    static_assert(ok,
                  "spruce: the loss of compile_step returns an Array, or a pair or tuple whose "
                  "first element is that Array");
    return ok;
  } else {
    return false;
  }
}

}  // namespace internal

/// A training step of a module as one compiled function: the loss, its gradient, the optimizer and
/// the new buffers. Made by compile_step().
template <class M, class Optimizer, class Loss>
class CompiledStep {
 public:
  /// The state of the optimizer: of the trainable parameters by name.
  using State = decltype(std::declval<const Optimizer&>().init(std::declval<NamedArrays>()));

  /// Of the library: made by compile_step().
  CompiledStep(internal::Held<M> module, Optimizer optimizer, Loss loss)
      : shared_(std::make_shared<Shared>(Shared{
            module, internal::Bound(module.node()), std::move(optimizer), std::move(loss), {}})),
        function_(Trace{shared_}, {.name = "module step"}) {
    set_state(shared_->optimizer.init(trained()));
  }

  /// One step on these arguments of the loss: what loss(module, args...) gives, before the step, a
  /// number, or a pair or tuple that begins with it. The module has new parameters and buffers
  /// afterwards, other modules that the loss calls new buffers. Throws what the loss throws;
  /// nothing is changed then.
  template <class... Args>
  auto operator()(const Args&... args) {
    if constexpr (internal::check_step_loss<Loss&, Argument, const Args&...>()) {
      internal::Bound& bound = shared_->bound;
      auto [out, next, keys, state] = bound.with_guests(
          [&] { return function_(bound.values(), bound.keys(), bound.form(), state_, args...); });
      bound.keep(next, keys);
      state_ = std::move(state);
      return Result<Args...>(std::move(out));
    } else {
      return spruce::internal::refused<Array>();
    }
  }
  /// The state of the optimizer: to be saved, or to go on with.
  const State& state() const { return state_; }
  /// Goes on from another state, of the present parameters, as optim::Stateful: after a restart, or
  /// with other hyperparameters. One of the same form does not trace again. Throws DerivativeError
  /// where the module has no parameters that are trained.
  void set_state(State state, Loc loc = Loc::current()) {
    const LocScope at(loc);
    shared_->made_for = spruce::internal::NamedShapes(trained());
    state_ = std::move(state);
  }
  /// How many times the step has been traced.
  int64_t trace_count() const { return function_.trace_count(); }

 private:
  using Argument = decltype(std::declval<const internal::Held<M>&>().get());
  template <class... Args>
  using Result = internal::StepResult<std::invoke_result_t<Loss&, Argument, const Args&...>>;

  struct Shared {
    internal::Held<M> module;
    internal::Bound bound;
    Optimizer optimizer;
    Loss loss;
    spruce::internal::NamedShapes made_for;
  };
  struct Trace {
    std::shared_ptr<Shared> shared;
    template <class... Args>
    auto operator()(const std::vector<Array>& values, const std::vector<Key>& keys, int64_t,
                    const State& state, const Args&... args) const {
      const internal::Bound& bound = shared->bound;
      const NamedArrays params = bound.trainable(values);
      const auto run = [&](const NamedArrays& p) {
        internal::Call call(*bound.node());
        bound.bind(call, values, keys);
        internal::bind_some(call, p);
        Result<Args...> out = [&] {
          const internal::CallScope scope(call);
          return shared->loss(shared->module.get(), args...);
        }();
        call.check_guests();
        Array value = spruce::internal::LossParts<Result<Args...>>::value(out);
        return std::pair{std::move(value),
                         std::tuple{std::move(out), bound.changed(call), bound.keys_after(call)}};
      };
      auto [out, grads] = [&] {
        internal::Call behind(*bound.node());  // of rules for gradients, which run after the loss
        bound.bind(behind, values, keys);
        auto result = [&] {
          const internal::CallScope scope(behind);
          return spruce::value_and_grad(run)(params);
        }();
        behind.check_guests();
        behind.commit(Loc::none());
        return result;
      }();
      auto [updates, next_state] =
          shared->made_for.guard("compile_step", params, [&, &by = grads, &value = out.first] {
            return spruce::internal::update_part(shared->optimizer, by, state, params, value);
          });
      auto& [result, next, keys_after] = out.second;
      bound.put_updated(params, updates, next);
      return std::tuple(std::move(result), std::move(next), std::move(keys_after),
                        State(std::move(next_state)));
    }
  };

  NamedArrays trained() const {
    return internal::known_trainable("compile_step", ModuleRef(shared_->bound.node()));
  }

  std::shared_ptr<Shared> shared_;
  Jitted<Trace> function_;
  State state_;
};

/// A training step as one compiled function: const auto step = nn::compile_step(net,
/// optim::adam(), [](Net& net, const Array& x, const Array& y) { return nn::mse_loss(net(x), y);
/// }); then value = step(x, y). It refers to the module as functionalize() does. The numbers are
/// those of the pure loop. Other modules that the loss calls or reads are constants in the
/// gradient, with the arrays that they have at each step; their new buffers and keys are kept in
/// them. A module that is replaced traces the step again; otherwise which ones the loss calls, and
/// the arrays that it captures, are as they were when it was traced: pass what changes as
/// arguments. Make a new step after requires_grad(), set_layer() or append(). Throws
/// DerivativeError for a module without parameters that are trained.
template <class M, class Optimizer, class Loss>
requires(std::derived_from<M, ModuleRef>) CompiledStep<M, Optimizer, Loss> compile_step(
    M& module, Optimizer optimizer, Loss loss, Loc loc = Loc::current()) {
  const LocScope at(loc);
  return CompiledStep<M, Optimizer, Loss>(internal::Held<M>(module), std::move(optimizer),
                                          std::move(loss));
}
/// Values are refused.
template <internal::NoModule M, class Optimizer, class Loss>
internal::RefusedFunction compile_step(const M&, const Optimizer&, const Loss&) {
  return internal::refuse_values<M, internal::RefusedFunction>();
}

}  // namespace spruce::nn
