// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/random_activations.h"

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/random/check.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/axis_option.h"
#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce::nn {

using spruce::internal::check_range, spruce::internal::Range;

namespace {

void check_slopes(const char* op, double lower, double upper) {
  check_range(op, "lower", lower, Range::kFinite);
  check_range(op, "upper", upper, Range::kFinite);
  if (lower > upper) {
    throw ValueError(std::string(op) + ": lower is " + spruce::internal::number_text(lower) +
                     ", it must be at most upper, which is " +
                     spruce::internal::number_text(upper));
  }
}

void require_floating(const char* op, const char* name, const Array& x) {
  spruce::internal::require_defined(op, name, x);
  if (!is_floating(x.dtype())) {
    throw DtypeError(std::string(op) + ": " + name + " must be floating, got " +
                     to_string(x.aval()) + "; convert with astype");
  }
}

}  // namespace

Array RreluFunction::operator()(const Array& x, const RreluOptions& o, Loc loc) const {
  const OpScope at("rrelu", loc);
  require_floating("rrelu", "x", x);
  check_slopes("rrelu", o.lower, o.upper);
  if (!o.training) return where(x > 0, x, (o.lower + o.upper) / 2 * x);
  if (!o.key.defined()) {
    throw ValueError(
        "rrelu: training needs a key; give one as {.key = key}, or set .training = false");
  }
  const Array slopes = random::uniform(random::internal::key_beside(o.key, x), x.shape(),
                                       {.low = o.lower, .high = o.upper, .dtype = x.dtype()});
  return where(x > 0, x, slopes * x);
}

Array RReLU::operator()(const Array& x, Loc loc) const {
  const OpScope at("RReLU", loc);
  return rrelu(x, {.lower = lower, .upper = upper});
}

Array RReLU::operator()(const Array& x, Context& ctx, Loc loc) const {
  const OpScope at("RReLU", loc);
  if (!ctx.training) return (*this)(x, loc);
  return rrelu(x, {lower, upper, true, ctx.next_key("RReLU", *this)});
}

Array GumbelSoftmaxFunction::operator()(const Array& logits, const GumbelSoftmaxOptions& o,
                                        Loc loc) const {
  const OpScope at("gumbel_softmax", loc);
  const spruce::internal::SameDevice here(logits);
  require_floating("gumbel_softmax", "logits", logits);
  check_range("gumbel_softmax", "tau", o.tau, Range::kPositive);
  if (!o.key.defined()) throw ValueError("gumbel_softmax: needs a key; give one as {.key = key}");
  const int axis = normalize_axis(
      "gumbel_softmax", internal::axis_option("gumbel_softmax", o.axis, o.dim), logits.rank());
  const Array noise = random::gumbel(random::internal::key_beside(o.key, logits), logits.shape(),
                                     {.dtype = logits.dtype()});
  const Array soft = softmax((logits + noise) / o.tau, {.axis = axis});
  if (!o.hard) return soft;
  Shape along = Shape::filled(logits.rank() - axis, 1);
  along[0] = logits.shape()[axis];
  const Array chosen =
      argmax(soft, axis, {.keepdims = true}) == reshape(arange(along[0], int32), along);
  return astype(chosen, logits.dtype()) + (soft - stop_gradient(soft));
}

}  // namespace spruce::nn
