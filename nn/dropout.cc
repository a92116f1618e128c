// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/dropout.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/random/check.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

using spruce::internal::check_range, spruce::internal::Range;

Array DropoutFunction::operator()(const Array& x, const DropoutOptions& o, Loc loc) const {
  const OpScope at("dropout", loc);
  check_range("dropout", "p", o.p, Range::kShare);
  if (!o.training || o.p == 0) return x;
  if (!o.key.defined()) {
    throw ValueError(
        "dropout: training needs a key; give one as {.key = key}, or set .training = false");
  }
  if (o.p == 1) return zeros_like(x);
  const Array keep = random::bernoulli(random::internal::key_beside(o.key, x), 1 - o.p, x.shape());
  return where(keep, x / (1 - o.p), zeros_like(x));
}

Array Dropout::operator()(const Array& x, Loc loc) const {
  const OpScope at("Dropout", loc);
  check_range("Dropout", "p", p, Range::kShare);
  return internal::observed(*this, "Dropout", x);
}

Array Dropout::operator()(const Array& x, Context& ctx, Loc loc) const {
  const OpScope at("Dropout", loc);
  check_range("Dropout", "p", p, Range::kShare);
  return internal::observed(*this, "Dropout", internal::dropped(x, p, ctx, "dropout", *this));
}

}  // namespace spruce::nn
