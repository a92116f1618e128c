// SPDX-License-Identifier: Apache-2.0
// The stateful loop: an optimizer that holds a module's gradients and its own state, as in PyTorch.
#pragma once

#include "spruce/core/named_shapes.h"
#include "spruce/core/tree/named_arrays.h"
#include "spruce/optim/transformation.h"
#include "spruce/transforms/derive/grad.h"

namespace spruce::optim {
namespace internal {

/// grads + more, by name; `more` where there are none yet. Throws TreeError where the names differ.
NamedArrays accumulated(const NamedArrays& grads, const NamedArrays& more);
/// Throws ValueError: step() without gradients.
[[noreturn]] void throw_no_gradients();

}  // namespace internal

/// An optimizer for one module, in the way of PyTorch:
///   optim::Stateful optimizer(net, optim::adam());
///   optimizer.zero_grad();
///   const Array loss = optimizer.backward([&] { return nn::mse_loss(net(x), y); });
///   optimizer.step();
/// Gradients are those of the trainable parameters by name, and are added up until zero_grad(). The
/// numbers are those of the pure loop. It refers to the module, which has to live as long; make a
/// new one after requires_grad() or set_layer().
///
/// `Net` is an nn::Module or anything else with trainable_parameters() and set_arrays(), and a
/// function value_and_grad_by_name(net, loss, loc) beside it.
template <class Net, class Optimizer>
class Stateful {
  static_assert(
      requires(const Net& net) { net.trainable_parameters(); },
      "spruce: optim::Stateful takes a module, a class derived from nn::Module; with a struct of "
      "values such as nn::Linear use the optimizer itself: init(params), then update(grads, state, "
      "params)");

 public:
  /// The state of the optimizer.
  using State = decltype(std::declval<const Optimizer&>().init(std::declval<NamedArrays>()));

  /// Starts with the state that the optimizer has for the present parameters. Throws what
  /// trainable_parameters() throws.
  Stateful(Net& net, Optimizer optimizer, Loc loc = Loc::current())
      : net_(&net), optimizer_(std::move(optimizer)) {
    const LocScope at(loc);
    set_state(optimizer_.init(net.trainable_parameters()));
  }

  /// Calls loss(), which calls the module and returns a number, or a pair or tuple that begins with
  /// it, and adds its gradient to grads(). Returns what loss returned. Throws what it throws;
  /// nothing is changed then.
  template <class F>
  auto backward(const F& loss, Loc loc = Loc::current()) {
    auto [out, grads] = value_and_grad_by_name(*net_, loss, loc);
    const LocScope at(loc);
    grads_ = internal::accumulated(grads_, grads);
    loss_ = spruce::internal::LossParts<decltype(out)>::value(out);
    return out;
  }
  /// The gradients that have been added up, by name; empty after zero_grad().
  const NamedArrays& grads() const { return grads_; }
  /// Forgets the gradients.
  void zero_grad() { grads_ = {}; }
  /// Gives the module the parameters that the optimizer makes of the gradients, and of the last
  /// loss where it takes one, as reduce_on_plateau does. Throws ValueError where there are no
  /// gradients, TreeError where the trainable parameters are other ones than the optimizer was made
  /// for.
  void step(Loc loc = Loc::current()) {
    const LocScope at(loc);
    if (grads_.empty()) internal::throw_no_gradients();
    const NamedArrays params = net_->trainable_parameters();
    auto [updates, next] = made_for_.guard("step", params, [&] {
      return internal::update_part(optimizer_, grads_, state_, params, loss_);
    });
    net_->set_arrays(apply_updates(params, updates));
    state_ = std::move(next);
  }
  /// zero_grad(), backward(loss) and step() in one: what loss returned.
  template <class F>
  requires(std::is_invocable_v<const F&>) auto step(const F& loss, Loc loc = Loc::current()) {
    zero_grad();
    auto out = backward(loss, loc);
    step(loc);
    return out;
  }

  /// The state of the optimizer: to be saved, or to go on with.
  const State& state() const { return state_; }
  /// Goes on from another state, of the present parameters.
  void set_state(State state) {
    made_for_ = spruce::internal::NamedShapes(net_->trainable_parameters());
    state_ = std::move(state);
  }

 private:
  Net* net_;
  Optimizer optimizer_;
  State state_;
  spruce::internal::NamedShapes made_for_;
  NamedArrays grads_;
  Array loss_;  // of the last backward()
};

}  // namespace spruce::optim
