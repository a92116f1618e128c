// SPDX-License-Identifier: Apache-2.0
// Several transformations, one after the other.
#pragma once

#include <tuple>

#include "spruce/core/op_scope.h"
#include "spruce/core/tree/tree.h"
#include "spruce/core/update_part.h"

namespace spruce::optim {
namespace internal {

using spruce::internal::update_part;

// The forms of update() of a transformation around others, made of Self::apply(grads, state,
// params, extra...).
template <class Self>
class Wrapper {
 public:
  /// {updates, next state}; the updates are to be added to the parameters. Throws as the parts do.
  template <class G, class S, class P>
  std::pair<G, S> update(const G& grads, const S& state, const P& params,
                         Loc loc = Loc::current()) const {
    const OpScope at(self().name(), loc);
    return self().apply(grads, state, params);
  }
  /// The same with what some parts need besides the gradients: the loss as an array f[] for
  /// reduce_on_plateau and polyak_sgd, a function for sophia and sam. Other parts do not see it.
  template <class G, class S, class P, class E>
  requires(!std::is_same_v<E, Loc>) std::pair<G, S> update(const G& grads, const S& state,
                                                           const P& params, const E& extra,
                                                           Loc loc = Loc::current())
  const {
    const OpScope at(self().name(), loc);
    return self().apply(grads, state, params, extra);
  }

 protected:
  // The name that errors bear; null for that of the part.
  const char* name() const { return nullptr; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace internal

/// Several transformations, one after the other: the updates of each are the gradients of the next.
/// The state is a tuple of theirs.
template <class... T>
class Chain : public internal::Wrapper<Chain<T...>> {
 public:
  /// The parts in the order in which gradients go through them. Errors bear the name `op`, a
  /// literal, or where it is null the name of the part.
  explicit Chain(const char* op, T... parts) : op_(op), parts_(std::move(parts)...) {}

  /// The states of all parts: std::tuple{part.init(params)...}.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return std::apply([&](const auto&... part) { return std::tuple{part.init(params)...}; },
                      parts_);
  }

 private:
  friend class internal::Wrapper<Chain>;

  const char* name() const { return op_; }

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    std::pair<G, S> out{grads, state};
    [&]<size_t... I>(std::index_sequence<I...>) {
      (
          [&] {
            auto [updates, next] = internal::update_part(std::get<I>(parts_), out.first,
                                                         std::get<I>(state), params, extra...);
            out.first = std::move(updates);
            std::get<I>(out.second) = std::move(next);
          }(),
          ...);
    }
    (std::index_sequence_for<T...>{});
    return out;
  }

  const char* op_;
  std::tuple<T...> parts_;
};
/// chain(clip_by_global_norm(1), adam()): a transformation made of several.
template <class... T>
requires(!(... || std::is_pointer_v<T>)) Chain<T...> chain(T... parts) {
  return Chain<T...>(nullptr, std::move(parts)...);
}
/// The same with a name, a literal, that errors bear: named_chain("my_optimizer", trace(0.9),
/// scale_by_learning_rate(0.1)).
template <class... T>
Chain<T...> named_chain(const char* op, T... parts) {
  return Chain<T...>(op, std::move(parts)...);
}

}  // namespace spruce::optim
