// SPDX-License-Identifier: Apache-2.0
// A transformation of all parameters as one vector.
#pragma once

#include "spruce/optim/lbfgs.h"

namespace spruce::optim {

/// A transformation that sees gradients and parameters as one vector each.
template <class T>
class Flatten : public internal::Wrapper<Flatten<T>> {
 public:
  /// `inner` for the vector.
  explicit Flatten(T inner) : inner_(std::move(inner)) {}

  /// The state of the inner transformation for the vector, f[n] in the widest dtype of the
  /// parameters.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return inner_.init(internal::flat_of(params, internal::widest_dtype(params)));
  }

 private:
  friend class internal::Wrapper<Flatten>;

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    const Dtype wide = internal::widest_dtype(params);
    auto [flat, next] = internal::update_part(inner_, internal::flat_of(grads, wide), state,
                                              internal::flat_of(params, wide), extra...);
    return {internal::with_flat(grads, flat), std::move(next)};
  }

  T inner_;
};
/// flatten(adam()): `inner` for the vector of all trained elements, in the order of the leaves.
/// Where there are many small arrays that is fewer and longer loops; norms of arrays and masks by
/// path become those of the one vector. What is handed over besides, such as the loss, is passed
/// on.
template <class T>
Flatten<T> flatten(T inner) {
  return Flatten<T>(std::move(inner));
}

}  // namespace spruce::optim
