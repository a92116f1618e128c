// SPDX-License-Identifier: Apache-2.0
// Updates that keep parameters where they have to be.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Updates that end at 0 where they would make a parameter negative.
struct KeepParamsNonnegative {
  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {updates, or -params where params + updates is negative, no state}. Throws TreeError where
  /// trees differ in form, ShapeError where arrays do in shape.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("keep_params_nonnegative", loc);
    return {map_trainable([](const Array& u,
                             const Array& p) { return where(p + u < 0, -astype(p, u.dtype()), u); },
                          grads, params),
            {}};
  }
};
/// The last part of a chain, for parameters that are not negative at first:
/// chain(adam(), keep_params_nonnegative()) goes down the gradient within x >= 0.
inline KeepParamsNonnegative keep_params_nonnegative() { return {}; }

}  // namespace spruce::optim
