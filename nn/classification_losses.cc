// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/classification_losses.h"

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/ranges.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce::nn {

using internal::reduced, internal::require_floating, internal::require_same_shape;

Array HingeLossFunction::operator()(const Array& input, const Array& target, const LossOptions& o,
                                    Loc loc) const {
  const OpScope at("hinge_loss", loc);
  require_same_shape("hinge_loss", input, target);
  return reduced(maximum(1 - input * astype(target, input.dtype()), 0), o.reduction);
}

Array PerceptronLossFunction::operator()(const Array& input, const Array& target,
                                         const LossOptions& o, Loc loc) const {
  const OpScope at("perceptron_loss", loc);
  require_same_shape("perceptron_loss", input, target);
  return reduced(maximum(-input * astype(target, input.dtype()), 0), o.reduction);
}

Array SparsemaxLossFunction::operator()(const Array& input, const Array& target,
                                        const LossOptions& o, Loc loc) const {
  const OpScope at("sparsemax_loss", loc);
  require_same_shape("sparsemax_loss", input, target);
  const Array z = where(target != 0, -input, input), bent = square(spruce::clip(z, -1, 1) + 1) / 4;
  return reduced(where(z >= 1, z, bent), o.reduction);
}

namespace {

// Scores f[..., classes] with the class of each example.
struct Labelled {
  Array index;   // i[..., 1]
  Array lead;    // f[...]: the score of that class
  Array inside;  // f[...]: 1, or NaN for a class that is not there
};

Labelled labelled(const char* op, const Array& input, const Array& target) {
  spruce::internal::require_defined(op, "input", input, "target", target);
  require_floating(op, input);
  if (!is_integer(target.dtype())) {
    throw DtypeError(std::string(op) + ": classes must be integers, got target " +
                     to_string(target.aval()) + "; convert with astype(target, int32)");
  }
  Shape wanted = input.shape();
  if (wanted.rank() > 0) wanted.erase(-1);
  if (input.rank() == 0 || !(target.shape() == wanted) || input.shape().back() == 0) {
    throw ShapeError(std::string(op) + ": input is " + to_string(input.aval()) + ", target is " +
                     to_string(target.aval()) +
                     "; they must be f[..., classes] and i[...], with at least one class");
  }
  const int64_t classes = input.shape().back();
  const NanOutsideParams range = internal::class_range(op, classes, input.dtype());
  check_known(target, range);
  const Array index = widened(target, classes), at = expand_dims(index, -1);
  return {at, squeeze(rules::take_along(input, at, input.rank() - 1), -1),
          nan_outside(index, range)};
}

// The nearest point of the probability simplex along the last axis (Martins and Astudillo 2016,
// algorithm 1): max(x - tau, 0), where tau is such that the sum is 1.
Array sparsemax(const Array& x) {
  const Dtype dtype = x.dtype();
  const Array fixed = stop_gradient(x), sorted = sort(fixed, -1, {.descending = true});
  const Array rank = arange(1, x.shape().back() + 1, dtype);
  const auto total = [](const Array& a) { return sum(a, -1, {.keepdims = true}); };
  // Tau is between the last element of the support and the first one behind it.
  const Array leading = 1 + rank * sorted > cumsum(sorted, -1);
  const Array size = total(astype(leading, dtype));
  const Array support = fixed > (total(where(leading, sorted, 0)) - 1) / size;
  const Array tau = (total(where(support, x, 0)) - 1) / total(astype(support, dtype));
  return where(support, x - tau, 0);
}

}  // namespace

Array MulticlassHingeLossFunction::operator()(const Array& input, const Array& target,
                                              const LossOptions& o, Loc loc) const {
  const OpScope at("multiclass_hinge_loss", loc);
  const spruce::internal::SameDevice here(input);
  const Labelled by = labelled("multiclass_hinge_loss", input, target);
  const Array margin = astype(arange(input.shape().back()) != by.index, input.dtype());
  return reduced((max(input + margin, -1) - by.lead) * by.inside, o.reduction);
}

Array MulticlassPerceptronLossFunction::operator()(const Array& input, const Array& target,
                                                   const LossOptions& o, Loc loc) const {
  const OpScope at("multiclass_perceptron_loss", loc);
  const spruce::internal::SameDevice here(input);
  const Labelled by = labelled("multiclass_perceptron_loss", input, target);
  return reduced((max(input, -1) - by.lead) * by.inside, o.reduction);
}

Array MulticlassSparsemaxLossFunction::operator()(const Array& input, const Array& target,
                                                  const LossOptions& o, Loc loc) const {
  const OpScope at("multiclass_sparsemax_loss", loc);
  const spruce::internal::SameDevice here(input);
  const Labelled by = labelled("multiclass_sparsemax_loss", input, target);
  const Array p = sparsemax(input);
  const Array above = where(p > 0, input - expand_dims(by.lead, -1), 0);
  const Array losses = sum(p * above, -1) + 0.5 * (1 - sum(square(p), -1));
  return reduced(losses * by.inside, o.reduction);
}

namespace {

// log(softmax(input)) over the axes, of the elements that count where these are given.
Array log_shares(const Array& input, const AxisArg& axis, const Array& counts) {
  if (counts.defined()) return internal::masked_log_softmax(input, axis, counts);
  if (axis.count() == 1) return log_softmax(input, {.axis = axis.named()[0]});
  return input - logsumexp(input, axis, {.keepdims = true});
}

// The cross entropy with probabilities, and epsilon sum(target (1 - softmax(input))).
Array poly_loss(const char* op, const Array& input, const Array& target, const PolyLossOptions& o) {
  require_same_shape(op, input, target);
  const spruce::internal::SameDevice here(input);
  Array counts;
  if (o.where.defined()) counts = internal::elements_that_count(op, o.where, input);
  const Array logs = log_shares(input, o.axis, counts);
  const Array each = o.epsilon == 0 ? -logs : o.epsilon * (1 - exp(logs)) - logs;
  Array terms = astype(target, input.dtype()) * each;
  if (counts.defined()) terms = where(counts, terms, 0);
  return reduced(sum(terms, o.axis), o.reduction);
}

}  // namespace

Array SoftmaxCrossEntropyFunction::operator()(const Array& input, const Array& target,
                                              const SoftmaxCrossEntropyOptions& o, Loc loc) const {
  const OpScope at("softmax_cross_entropy", loc);
  return poly_loss("softmax_cross_entropy", input, target,
                   {.epsilon = 0, .axis = o.axis, .where = o.where, .reduction = o.reduction});
}

Array PolyLossCrossEntropyFunction::operator()(const Array& input, const Array& target,
                                               const PolyLossOptions& o, Loc loc) const {
  const OpScope at("poly_loss_cross_entropy", loc);
  spruce::internal::check_range("poly_loss_cross_entropy", "epsilon", o.epsilon,
                                spruce::internal::Range::kFinite);
  return poly_loss("poly_loss_cross_entropy", input, target, o);
}

}  // namespace spruce::nn
