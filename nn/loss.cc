// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/loss.h"

#include <numbers>
#include <utility>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/nn/wide.h"
#include "spruce/transforms/compile/elementwise.h"

namespace spruce::nn {

using internal::class_range, internal::narrow, internal::reduced, internal::require_floating,
    internal::require_same_shape, internal::wide;
using spruce::internal::check_range, spruce::internal::Range;

namespace {

// Classes go last: f[classes], f[n, d..., classes].
Array classes_last(const Array& input) {
  return input.rank() <= 2 ? input : moveaxis(input, 1, -1);
}

void require_indices(const char* op, const Array& input, const Array& target) {
  require_floating(op, input);
  if (input.rank() == 0)
    throw ShapeError(std::string(op) + ": input f[classes] or f[n, classes, ...] is needed, got " +
                     to_string(input.aval()));
  if (is_floating(target.dtype()) || is_bool(target.dtype())) {
    throw DtypeError(std::string(op) + ": class indices must be integers, got target " +
                     to_string(target.aval()) + " for input " + to_string(input.aval()) +
                     "; convert with astype(target, int32)");
  }
  Shape wanted = input.shape();
  wanted.erase(input.rank() == 1 ? 0 : 1);
  if (!(target.shape() == wanted)) {
    throw ShapeError(std::string(op) + ": input " + to_string(input.aval()) + " needs target i" +
                     to_string(wanted) + ", got " + to_string(target.aval()));
  }
}

// Weights are given for each class.
Array class_weights(const char* op, const Array& weight, int64_t classes, Dtype dtype) {
  if (!(weight.shape() == Shape{classes})) {
    throw ShapeError(std::string(op) + ": weight is " + to_string(weight.aval()) +
                     ", it needs one entry for each of " + std::to_string(classes) + " classes");
  }
  return astype(weight, dtype);
}

// The labels to ignore are set to class 0. Those out of range are an error where they are known,
// and make the loss of their example NaN where they are not.
struct Labels {
  Array index;   // of the class
  Array used;    // bool: whether an example counts; undefined where all do
  Array factor;  // of the losses: 1, NaN for a label out of range; undefined where all are known
};

Labels labels_of(const char* op, const Array& target, int64_t classes, int64_t ignore_index,
                 Dtype dtype) {
  const bool known = has_known_values(target);
  bool ignores = !known;
  if (known) {
    visit_dtype(target.dtype(), [&]<class T>(T) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        for (const T t : target.data<T>()) {
          if (static_cast<int64_t>(t) == ignore_index) {
            ignores = true;
          } else if (std::cmp_less(t, 0) || std::cmp_greater_equal(t, classes)) {
            rules::throw_outside(class_range(op, classes, dtype), std::to_string(t));
          }
        }
      }
    });
  }
  Labels labels{target, Array(), Array()};
  if (ignores) {
    // In the target's own dtype where every one that is signed holds the label to ignore.
    const bool narrow =
        ignore_index >= -128 && ignore_index <= 127 && !is_unsigned_integer(target.dtype());
    const Dtype wide = narrow ? target.dtype() : int64;
    labels.used = astype(target, wide) != astype(Array(ignore_index), wide);
    labels.index = where(labels.used, target, zeros_like(target));
  }
  if (!known) {
    if (classes == 0 && target.size() > 0)
      throw IndexError(std::string(op) + ": the input has no classes for the target " +
                       to_string(target.aval()));
    labels.index = widened(labels.index, classes);
    labels.factor = nan_outside(labels.index, class_range(op, classes, dtype));
  }
  return labels;
}

// f[...]: the negative log-probability of the class for each example, from log-probabilities with
// classes last; zero for ignored ones, even where their loss is infinite.
Array picked(const Array& log_probabilities, const Labels& labels) {
  const int last = log_probabilities.rank() - 1;
  Array losses =
      -squeeze(rules::take_along(log_probabilities, expand_dims(labels.index, -1), last), -1);
  if (labels.factor.defined()) losses = losses * labels.factor;
  return labels.used.defined() ? where(labels.used, losses, zeros_like(losses)) : losses;
}

// The mean over used examples, weighted: f16 holds no count above 65504.
Array weighted(const Array& losses, const Array& weights, Reduction reduction) {
  if (!weights.defined()) return reduced(losses, reduction);
  const Array scaled = losses * weights;
  return reduction == Reduction::kMean ? sum(scaled) / sum(weights) : reduced(scaled, reduction);
}

Array example_weights(const char* op, const Labels& labels, const Array& weight, int64_t classes,
                      Dtype dtype) {
  Array weights;
  if (weight.defined())
    weights = rules::take_axis(class_weights(op, weight, classes, dtype), labels.index, 0);
  if (labels.used.defined()) {
    const Array used = astype(labels.used, dtype);
    weights = weights.defined() ? weights * used : used;
  }
  return weights;
}

Array nll(const char* op, const Array& log_probabilities, const Array& target, const Array& weight,
          int64_t ignore_index, Reduction reduction) {
  const int64_t classes = log_probabilities.shape().back();
  const Dtype dtype = log_probabilities.dtype();
  const Labels labels = labels_of(op, target, classes, ignore_index, dtype);
  const Array losses = wide(picked(log_probabilities, labels));
  const Array weights = example_weights(op, labels, weight, classes, losses.dtype());
  return narrow(weighted(losses, weights, reduction), dtype);
}

// Targets are probabilities.
Array soft_cross_entropy(const Array& input, const Array& target, const CrossEntropyOptions& o) {
  if (!(input.shape() == target.shape())) {
    throw ShapeError("cross_entropy: input is " + to_string(input.aval()) +
                     ", the floating target is " + to_string(target.aval()) +
                     "; it must hold a probability for each class; convert class indices with "
                     "astype(target, int32)");
  }
  const Array logs = log_softmax(classes_last(input));
  Array t = astype(classes_last(target), input.dtype());
  const int64_t classes = logs.shape().back();
  if (o.label_smoothing > 0)
    t = t * (1 - o.label_smoothing) + o.label_smoothing / static_cast<double>(classes);
  Array terms = logs * t;
  if (o.weight.defined())
    terms = terms * class_weights("cross_entropy", o.weight, classes, logs.dtype());
  return reduced(-sum(terms, -1), o.reduction);
}

Array smoothed_cross_entropy(const Array& given, const Array& target,
                             const CrossEntropyOptions& o) {
  const Array logs = wide(given);
  const int64_t classes = logs.shape().back();
  const Labels labels = labels_of("cross_entropy", target, classes, o.ignore_index, logs.dtype());
  const Array weights = example_weights("cross_entropy", labels, o.weight, classes, logs.dtype());
  Array spread = -logs;
  if (o.weight.defined())
    spread = spread * class_weights("cross_entropy", o.weight, classes, logs.dtype());
  const Array spread_sum = sum(spread, -1);
  const Array smooth =
      labels.used.defined() ? where(labels.used, spread_sum, zeros_like(spread_sum)) : spread_sum;
  const Array hard = picked(logs, labels);
  const double share = o.label_smoothing / static_cast<double>(classes);
  const Array each =
      (1 - o.label_smoothing) * (weights.defined() ? hard * weights : hard) + share * smooth;
  const bool counted = o.reduction == Reduction::kMean && weights.defined();
  return narrow(counted ? sum(each) / sum(weights) : reduced(each, o.reduction), given.dtype());
}

}  // namespace

Array CrossEntropyFunction::operator()(const Array& input, const Array& target,
                                       const CrossEntropyOptions& o, Loc loc) const {
  const OpScope at("cross_entropy", loc);
  spruce::internal::require_defined("cross_entropy", "input", input, "target", target);
  check_range("cross_entropy", "label_smoothing", o.label_smoothing, Range::kShare);
  require_floating("cross_entropy", input);
  if (is_floating(target.dtype())) return soft_cross_entropy(input, target, o);
  require_indices("cross_entropy", input, target);
  const Array logs = log_softmax(classes_last(input));
  if (o.label_smoothing > 0) return smoothed_cross_entropy(logs, target, o);
  return nll("cross_entropy", logs, target, o.weight, o.ignore_index, o.reduction);
}

Array NllLossFunction::operator()(const Array& input, const Array& target, const NllOptions& o,
                                  Loc loc) const {
  const OpScope at("nll_loss", loc);
  spruce::internal::require_defined("nll_loss", "input", input, "target", target);
  require_indices("nll_loss", input, target);
  return nll("nll_loss", classes_last(input), target, o.weight, o.ignore_index, o.reduction);
}

Array MseLossFunction::operator()(const Array& input, const Array& target,
                                  const LossOptions& options, Loc loc) const {
  const OpScope at("mse_loss", loc);
  require_same_shape("mse_loss", input, target);
  const Array losses = square(wide(input) - wide(target));
  return narrow(reduced(losses, options.reduction),
                spruce::internal::common_dtype({&input, &target}));
}

Array L1LossFunction::operator()(const Array& input, const Array& target,
                                 const LossOptions& options, Loc loc) const {
  const OpScope at("l1_loss", loc);
  require_same_shape("l1_loss", input, target);
  return reduced(abs(input - target), options.reduction);
}

namespace {

// d^2 / 2 up to delta, a line of slope delta beyond. The square of what is within delta only: no
// infinity on the side that is not taken.
Array huber(const Array& input, const Array& target, double delta) {
  static const auto& f = *new auto(elementwise([](const Array& d, const Array& most) {
    const Array distance = abs(d), curved = distance < most;
    const Array line = most * (distance - 0.5 * most);
    return where(curved, 0.5 * square(where(curved, d, 0)), line);
  }));
  const Array difference = input - target;
  return f(is_floating(difference.dtype()) ? difference : astype(difference, float32), delta);
}

}  // namespace

Array HuberLossFunction::operator()(const Array& input, const Array& target, const HuberOptions& o,
                                    Loc loc) const {
  const OpScope at("huber_loss", loc);
  require_same_shape("huber_loss", input, target);
  check_range("huber_loss", "delta", o.delta, Range::kPositive);
  return reduced(huber(input, target, o.delta), o.reduction);
}

Array LogCoshFunction::operator()(const Array& input, const Array& target, const LossOptions& o,
                                  Loc loc) const {
  const OpScope at("log_cosh", loc);
  require_same_shape("log_cosh", input, target);
  const Array d = input - astype(target, input.dtype());
  return reduced(logaddexp(d, -d) - std::numbers::ln2, o.reduction);
}

Array SmoothL1LossFunction::operator()(const Array& input, const Array& target,
                                       const SmoothL1Options& o, Loc loc) const {
  const OpScope at("smooth_l1_loss", loc);
  require_same_shape("smooth_l1_loss", input, target);
  check_range("smooth_l1_loss", "beta", o.beta, Range::kNotNegative);
  if (o.beta == 0) return reduced(abs(input - target), o.reduction);
  const Array losses = huber(input, target, o.beta);
  return reduced(o.beta == 1 ? losses : losses / o.beta, o.reduction);
}

Array KlDivFunction::operator()(const Array& input, const Array& target, const KlDivOptions& o,
                                Loc loc) const {
  const OpScope at("kl_div", loc);
  require_same_shape("kl_div", input, target);
  Array losses;
  if (o.log_target) {
    losses = exp(target) * (target - input);
  } else {
    const Array some = target != 0;
    losses = where(some, target * log(where(some, target, 1)), 0) - target * input;
  }
  if (o.reduction != Reduction::kBatchMean) return reduced(losses, o.reduction);
  if (losses.rank() == 0) return losses;
  return narrow(sum(wide(losses)) / static_cast<double>(losses.shape()[0]), losses.dtype());
}

Array BceWithLogitsFunction::operator()(const Array& input, const Array& target,
                                        const BceOptions& o, Loc loc) const {
  const OpScope at("bce_with_logits", loc);
  require_same_shape("bce_with_logits", input, target);
  // The derivatives of both terms are exact where input is far from 0; that of one logarithm and a
  // product is a difference of numbers near 1.
  const Array positive = o.pos_weight.defined() ? o.pos_weight * target : target;
  Array losses = -(positive * logsigmoid(input) + (1 - target) * logsigmoid(-input));
  if (o.weight.defined()) losses = losses * o.weight;
  return reduced(losses, o.reduction);
}

Array BinaryCrossEntropyWithLogitsFunction::operator()(const Array& input, const Array& target,
                                                       const BceOptions& options, Loc loc) const {
  const OpScope at("binary_cross_entropy_with_logits", loc);
  return bce_with_logits(input, target, options, loc);
}

}  // namespace spruce::nn
