// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/probability_losses.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/nn/wide.h"
#include "spruce/transforms/compile/elementwise.h"
#include "spruce/transforms/derive/custom.h"
#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce::nn {

using internal::narrow, internal::reduced, internal::require_same_shape, internal::wide;
using spruce::internal::check_range, spruce::internal::Range;

namespace {

// Logarithms of p and 1 - p, at least -100.
std::pair<Array, Array> logarithms(const Array& p) {
  return {maximum(log(p), -100), maximum(log1p(-p), -100)};
}

Array of_probabilities(const Array& p, const Array& target) {
  const auto [yes, no] = logarithms(p);
  return (target - 1) * no - target * yes;
}

// The derivative of a logarithm has no end at 0, where 0 times it would be NaN.
std::pair<Array, Array> with_tangent(const std::tuple<Array, Array>& primals,
                                     const std::tuple<Array, Array>& tangents) {
  const auto& [p, target] = primals;
  const auto& [dp, dtarget] = tangents;
  const auto [yes, no] = logarithms(p);
  const Array slope = (p - target) / maximum(p * (1 - p), 1e-12);
  return {(target - 1) * no - target * yes, dp * slope + dtarget * (no - yes)};
}

}  // namespace

Array BinaryCrossEntropyFunction::operator()(const Array& input, const Array& target,
                                             const BinaryCrossEntropyOptions& o, Loc loc) const {
  const OpScope at("binary_cross_entropy", loc);
  require_same_shape("binary_cross_entropy", input, target);
  if (o.weight.defined()) {
    internal::require_broadcast("binary_cross_entropy", "weight", o.weight, input);
  }
  if (!may_be_within(input, 0, 1)) {
    throw ValueError("binary_cross_entropy: the input " + to_string(input.aval()) +
                     " holds a number that is not within 0..1; it must be probabilities, or call "
                     "bce_with_logits for logits");
  }
  Array losses = custom_jvp(of_probabilities, with_tangent)(input, astype(target, input.dtype()));
  if (o.weight.defined()) losses = losses * o.weight;
  return reduced(losses, o.reduction);
}

Array PoissonNllLossFunction::operator()(const Array& input, const Array& target,
                                         const PoissonNllOptions& o, Loc loc) const {
  const OpScope at("poisson_nll_loss", loc);
  require_same_shape("poisson_nll_loss", input, target);
  check_range("poisson_nll_loss", "eps", o.eps, Range::kNotNegative);
  const Array t = astype(target, input.dtype());
  Array losses = o.log_input ? exp(input) - t * input : input - t * log(input + o.eps);
  if (o.full) {
    const Array large = t > 1, safe = where(large, t, 1);
    const Array stirling = safe * log(safe) - safe + 0.5 * log(2 * std::numbers::pi * safe);
    losses = losses + where(large, stirling, 0);
  }
  return reduced(losses, o.reduction);
}

namespace {

// The variance with the rank of the input.
Array variance_of(const Array& input, const Array& var) {
  Shape shape = input.shape();
  if (var.shape() == shape) return var;
  if (input.rank() > 0) {
    shape.back() = 1;
    if (var.shape() == shape) return var;
    shape.erase(-1);
    if (var.shape() == shape) return expand_dims(var, -1);
  }
  throw ShapeError(
      "gaussian_nll_loss: the input is " + to_string(input.aval()) + ", var is " +
      to_string(var.aval()) +
      "; it needs the shape of the input, or that with 1 or nothing for the last axis");
}

}  // namespace

Array GaussianNllLossFunction::operator()(const Array& input, const Array& target, const Array& var,
                                          const GaussianNllOptions& o, Loc loc) const {
  const OpScope at("gaussian_nll_loss", loc);
  require_same_shape("gaussian_nll_loss", input, target);
  spruce::internal::require_defined("gaussian_nll_loss", "var", var);
  check_range("gaussian_nll_loss", "eps", o.eps, Range::kPositive);
  const Array given = variance_of(input, wide(var));
  if (!may_be_within(given, 0, std::numeric_limits<double>::infinity())) {
    throw ValueError("gaussian_nll_loss: var " + to_string(var.aval()) +
                     " holds a negative number; variances are at least 0, for instance "
                     "softplus(x)");
  }
  const Array v = given + stop_gradient(maximum(given, o.eps) - given);
  Array losses = 0.5 * (log(v) + square(wide(input) - wide(target)) / v);
  if (o.full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return narrow(reduced(losses, o.reduction),
                spruce::internal::common_dtype({&input, &target, &var}));
}

Array SigmoidFocalLossFunction::operator()(const Array& input, const Array& target,
                                           const FocalOptions& o, Loc loc) const {
  const OpScope at("sigmoid_focal_loss", loc);
  require_same_shape("sigmoid_focal_loss", input, target);
  check_range("sigmoid_focal_loss", "gamma", o.gamma, Range::kNotNegative);
  if (!(o.alpha <= 1)) {
    throw ValueError("sigmoid_focal_loss: alpha is " + spruce::internal::number_text(o.alpha) +
                     ", it must be at most 1; negative for no weights");
  }
  const Array t = astype(target, input.dtype()), p = sigmoid(input);
  const Array missed = p + t - 2 * p * t;  // 1 - (p t + (1 - p) (1 - t))
  Array losses = bce_with_logits(input, t, {.reduction = Reduction::kNone});
  losses = losses * (o.gamma == 2 ? square(missed) : power(missed, o.gamma));
  if (o.alpha >= 0) losses = losses * (o.alpha * t + (1 - o.alpha) * (1 - t));
  return reduced(losses, o.reduction);
}

Array DiceLossFunction::operator()(const Array& input, const Array& target, const DiceOptions& o,
                                   Loc loc) const {
  const OpScope at("dice_loss", loc);
  require_same_shape("dice_loss", input, target);
  check_range("dice_loss", "smooth", o.smooth, Range::kNotNegative);
  if (input.rank() == 0) {
    throw ShapeError("dice_loss: takes f[n, ...], got " + to_string(input.aval()) +
                     "; give one example a first axis by expand_dims(x, 0)");
  }
  const int64_t n = input.shape()[0], each = n == 0 ? 0 : input.size() / n;
  const Array p = reshape(wide(input), {n, each}),
              t = reshape(astype(target, p.dtype()), {n, each});
  const Array losses = 1 - (2 * sum(p * t, -1) + o.smooth) / (sum(p, -1) + sum(t, -1) + o.smooth);
  return narrow(reduced(losses, o.reduction), input.dtype());
}

Array GeneralizedKlDivergenceFunction::operator()(const Array& input, const Array& target,
                                                  const DivergenceOptions& o, Loc loc) const {
  const OpScope at("generalized_kl_divergence", loc);
  require_same_shape("generalized_kl_divergence", input, target);
  const Array t = astype(target, input.dtype()), none_there = t == 0;
  const Array logs = where(none_there, 0, log(where(none_there, 1, t)));
  const auto terms = [&](const Array& x) { return t * (logs - x) + exp(x) - t; };
  if (!o.where.defined()) return reduced(sum(terms(input), o.axis), o.reduction);
  const Array counts = internal::elements_that_count("generalized_kl_divergence", o.where, input);
  // What does not count may be infinite: no 0 times infinity in gradients.
  return reduced(sum(where(counts, terms(where(counts, input, 0)), 0), o.axis), o.reduction);
}

}  // namespace spruce::nn
