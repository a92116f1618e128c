// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/mixed.h"

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ranges.h"

namespace spruce::nn {

bool internal::is_cast(tree::Leaf kind, const Array& leaf) {
  return leaf.defined() && kind == tree::Leaf::kArray && is_floating(leaf.dtype());
}

Array all_finite(const std::vector<Array>& leaves) {
  Array finite;
  for (const Array& a : leaves) {
    if (!a.defined() || !is_floating(a.dtype())) continue;
    const Array here = all(isfinite(a));
    finite = finite.defined() ? finite & here : here;
  }
  return finite.defined() ? finite : array(true);
}

void internal::check_precision(Dtype dtype) {
  if (is_floating(dtype)) return;
  throw DtypeError("Precision: casts to " + std::string(short_name(dtype)) +
                   "; parameters, computation and output are of floating dtypes");
}

LossScale LossScale::fixed(double value, Loc loc) {
  const LocScope at(loc);
  spruce::internal::check_range("LossScale::fixed", "value", value,
                                spruce::internal::Range::kPositive);
  LossScale scale;
  scale.value = full({}, value, float32);
  scale.period = 0;
  return scale;
}

LossScale LossScale::adjusted(const Array& finite) const {
  if (period == 0) return *this;
  const Array next = good_steps + 1;
  const Array grows = next >= period;
  const Array larger = value * factor;
  const Array grown = where(grows & isfinite(larger), larger, value);
  LossScale out = *this;
  out.value = where(finite, grown, maximum(value / factor, smallest));
  out.good_steps = where(finite & !grows, next, 0).astype(int32);
  return out;
}

}  // namespace spruce::nn
