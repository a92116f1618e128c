// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/similarity_losses.h"

#include <limits>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/nn/wide.h"

namespace spruce::nn {

using internal::narrow, internal::wide;
using spruce::internal::check_range, spruce::internal::Range;

namespace {

// Vectors of length 1; a squared norm below epsilon counts as this.
Array unit(const Array& x, const AxisArg& axis, double epsilon) {
  return x / sqrt(maximum(sum(square(x), axis, {.keepdims = true}), epsilon));
}

}  // namespace

Array CosineDistanceFunction::operator()(const Array& input, const Array& target,
                                         const CosineDistanceOptions& o, Loc loc) const {
  const OpScope at("cosine_distance", loc);
  internal::require_same_shape("cosine_distance", input, target);
  check_range("cosine_distance", "epsilon", o.epsilon, Range::kNotNegative);
  Array x = wide(input), y = astype(target, x.dtype());
  if (o.where.defined()) {
    const Array counts = internal::elements_that_count("cosine_distance", o.where, input);
    x = where(counts, x, 0);
    y = where(counts, y, 0);
  }
  const Array cosine = sum(unit(x, o.axis, o.epsilon) * unit(y, o.axis, o.epsilon), o.axis);
  return narrow(internal::reduced(1 - cosine, o.reduction), input.dtype());
}

Array NtxentFunction::operator()(const Array& input, const Array& target, const NtxentOptions& o,
                                 Loc loc) const {
  const OpScope at("ntxent", loc);
  const spruce::internal::SameDevice here(input);
  spruce::internal::require_defined("ntxent", "input", input, "target", target);
  internal::require_floating("ntxent", input);
  check_range("ntxent", "temperature", o.temperature, Range::kPositive);
  if (!is_integer(target.dtype())) {
    throw DtypeError("ntxent: labels must be integers, got target " + to_string(target.aval()) +
                     "; convert with astype(target, int32)");
  }
  if (input.rank() != 2 || !(target.shape() == Shape{input.shape()[0]})) {
    throw ShapeError("ntxent: input is " + to_string(input.aval()) + ", target is " +
                     to_string(target.aval()) + "; they must be f[n, d] and i[n]");
  }
  const int64_t n = input.shape()[0];
  const Array units = unit(wide(input), -1, finfo(input.dtype()).eps);
  const Array cosines = matmul(units, transpose(units)) / o.temperature;
  const Array alike = expand_dims(target, 1) == expand_dims(target, 0);
  const Array pairs = alike & (expand_dims(arange(n), 1) != arange(n));
  const Array others = logical_not(alike), alone = logical_not(any(others, 1, {.keepdims = true}));
  // Rows without another label have a sum all the same, which does not count: no NaN in gradients.
  const Array sums =
      logsumexp(where(others | alone, cosines, -std::numeric_limits<double>::infinity()), 1,
                {.keepdims = true});
  const Array terms = where(alone, 0, -logsigmoid(cosines - sums));
  const Array total = sum(where(pairs, terms, 0));
  return narrow(total / astype(count_nonzero(pairs), total.dtype()), input.dtype());
}

}  // namespace spruce::nn
