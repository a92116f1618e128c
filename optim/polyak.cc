// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/polyak.h"

#include <limits>

namespace spruce::optim {

using spruce::internal::Range;

Array ScaleByPolyak::factor(const Array& squared_norm, const Array& value) const {
  const Dtype dtype = squared_norm.dtype();
  Array gap = Hyperparam(value).in(dtype)-f_min.in(dtype);
  if (only_down) gap = maximum(gap, 0.0f);
  const Array by = squared_norm + eps;
  const Array none = by <= std::numeric_limits<double>::epsilon();
  const Array step = minimum(gap / where(none, ones_like(by), by), max_learning_rate.in(dtype));
  return where(none, zeros_like(step), step);
}

ScaleByPolyak scale_by_polyak(ScaleByPolyak o, Loc loc) {
  const LocScope at(loc);
  o.max_learning_rate.check("scale_by_polyak", "max_learning_rate", Range::kPositive);
  o.f_min.check("scale_by_polyak", "f_min", Range::kFinite);
  o.eps.check("scale_by_polyak", "eps", Range::kNotNegative);
  return o;
}

Chain<Sgd, ScaleByPolyak> polyak_sgd(PolyakSgdOptions o, Loc loc) {
  const OpScope at("polyak_sgd", loc);
  o.scaling.check("polyak_sgd", "scaling");
  return named_chain("polyak_sgd", sgd({.learning_rate = o.scaling}),
                     scale_by_polyak({o.max_learning_rate, o.f_min, o.eps, o.only_down}));
}

}  // namespace spruce::optim
