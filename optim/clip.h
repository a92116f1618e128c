// SPDX-License-Identifier: Apache-2.0
// Clipping of gradients.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// f32[], f64[] where there are f64 leaves: the root of the sum of squares over all floating leaves
/// (buffers and integers left out), 0 without any.
template <class T>
Array global_norm(const T& x, Loc loc = Loc::current()) {
  const LocScope at(loc);
  Array total = 0.0f;
  tree::internal::for_each_leaf(x, [&](const Array& a, tree::Leaf kind) {
    if (kind == tree::Leaf::kArray && a.defined() && is_floating(a.dtype())) {
      total = total + sum(square(a.dtype() == float64 ? a : astype(a, float32)));
    }
  });
  return sqrt(total);
}

/// Scales the gradients down so that their global_norm is at most `max_norm` (Pascanu et al. 2013).
struct ClipByGlobalNorm {
  float max_norm;  ///< the largest global_norm that stays as it is, above 0

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients, no state}: as they are where their norm is below max_norm, else times max_norm /
  /// norm. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("clip_by_global_norm", loc);
    const Array norm = global_norm(grads), small = norm < max_norm;
    return {
        internal::map_floating(
            [&](const Array& g) { return where(small, g, g / astype(norm, g.dtype()) * max_norm); },
            grads),
        {}};
  }
};
/// Clipping as a part of chain(), in front of the optimizer. Throws ValueError unless max_norm is
/// positive.
inline ClipByGlobalNorm clip_by_global_norm(float max_norm, Loc loc = Loc::current()) {
  const LocScope at(loc);
  spruce::internal::check_range("clip_by_global_norm", "max_norm", max_norm,
                                spruce::internal::Range::kPositive);
  return {max_norm};
}

}  // namespace spruce::optim
