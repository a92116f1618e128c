// SPDX-License-Identifier: Apache-2.0
// Transformations that are applied at some updates only.
#pragma once

#include "spruce/optim/transformation.h"
#include "spruce/transforms/control/branches/cond.h"

namespace spruce::optim {

/// State of conditionally_transform and conditionally_mask.
template <class S>
struct ConditionalState {
  Array step;  ///< i32[]: updates so far, those that were left out among them
  S inner;     ///< the state of the inner transformation
};

/// A transformation where a condition holds; its state stays as it was where it does not.
template <class T, class F>
class Conditional : public internal::Wrapper<Conditional<T, F>> {
 public:
  /// `inner` where condition(step) holds, else the gradients (masks false) or zeros (true).
  Conditional(T inner, F condition, bool masks)
      : inner_(std::move(inner)), condition_(std::move(condition)), masks_(masks) {}

  /// Step 0 and the state of the inner transformation.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return ConditionalState<decltype(inner_.init(params))>{zero_count(), inner_.init(params)};
  }

 private:
  friend class internal::Wrapper<Conditional>;

  template <class... E>
  Array holds(const Array& step, const E&... extra) const {
    if constexpr (sizeof...(E) != 0 && std::is_invocable_v<const F&, const Array&, const E&...>)
      return condition_(step, extra...);
    else
      return condition_(step);
  }

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    check_count(masks_ ? "conditionally_mask" : "conditionally_transform", state.step);
    auto [updates, inner] = cond(
        holds(state.step, extra...),
        [&] { return internal::update_part(inner_, grads, state.inner, params, extra...); },
        [&] {
          return std::pair{
              masks_ ? map_trainable([](const Array& g) { return zeros_like(g); }, grads) : grads,
              state.inner};
        });
    return {std::move(updates), S{next_count(state.step), std::move(inner)}};
  }

  T inner_;
  F condition_;
  bool masks_;
};
/// `inner` at the updates for which condition(step), bool[], holds; at the others the gradients
/// pass as they are and the state of `inner` stays. `step` counts all updates, from 0, i32[]. Where
/// update() is handed something besides the parameters, such as the loss, condition(step, loss) is
/// called if it takes that.
template <class T, class F>
Conditional<T, F> conditionally_transform(T inner, F condition) {
  return {std::move(inner), std::move(condition), false};
}
/// The same with updates of zeros where the condition does not hold: the parameters stay as they
/// are then. skip functions of multi_steps do so for gradients that are bad.
template <class T, class F>
Conditional<T, F> conditionally_mask(T inner, F condition) {
  return {std::move(inner), std::move(condition), true};
}

}  // namespace spruce::optim
