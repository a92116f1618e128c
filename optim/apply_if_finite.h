// SPDX-License-Identifier: Apache-2.0
// Updates that are left out where gradients are not finite.
#pragma once

#include "spruce/optim/transformation.h"
#include "spruce/transforms/control/branches/cond.h"

namespace spruce::optim {

/// State of apply_if_finite.
template <class S>
struct ApplyIfFiniteState {
  Array notfinite_count;  ///< i32[]: gradients in a row, up to now, that were not finite
  Array last_finite;      ///< bool[]: the last gradient was finite
  Array total_notfinite;  ///< i32[]: gradients so far that were not finite
  S inner;                ///< the state of the inner transformation
};

/// Updates of zeros, and the state as it was, for gradients with a NaN or infinity.
template <class T>
class ApplyIfFinite : public internal::Wrapper<ApplyIfFinite<T>> {
 public:
  /// Throws ValueError for max_consecutive_errors < 0.
  ApplyIfFinite(T inner, int64_t max_consecutive_errors, Loc loc)
      : inner_(std::move(inner)), most_(max_consecutive_errors) {
    const LocScope at(loc);
    internal::check_steps("apply_if_finite", "max_consecutive_errors", most_, 0);
  }

  /// Counts 0, and the state of the inner transformation.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return ApplyIfFiniteState<decltype(inner_.init(params))>{zero_count(), ones({}, bool_),
                                                             zero_count(), inner_.init(params)};
  }

 private:
  friend class internal::Wrapper<ApplyIfFinite>;

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    check_count("apply_if_finite", state.notfinite_count);
    check_count("apply_if_finite", state.total_notfinite);
    const Array finite = internal::all_finite(internal::trainable_leaves(grads));
    const Array count = where(finite, 0, next_count(state.notfinite_count));
    auto [updates, inner] = cond(
        finite | (count > static_cast<int32_t>(most_)),
        [&] { return internal::update_part(inner_, grads, state.inner, params, extra...); },
        [&] {
          return std::pair{map_trainable([](const Array& g) { return zeros_like(g); }, grads),
                           state.inner};
        });
    return {std::move(updates),
            {count, finite, where(finite, state.total_notfinite, next_count(state.total_notfinite)),
             std::move(inner)}};
  }

  T inner_;
  int64_t most_;
};

/// apply_if_finite(adam(), 5): leaves gradients that are not finite out, but not more than
/// max_consecutive_errors in a row: the next one is applied whatever it holds, for then something
/// is wrong that does not pass. Throws ValueError for a negative number.
template <class T>
ApplyIfFinite<T> apply_if_finite(T inner, int64_t max_consecutive_errors,
                                 Loc loc = Loc::current()) {
  return ApplyIfFinite<T>(std::move(inner), max_consecutive_errors, loc);
}

}  // namespace spruce::optim
