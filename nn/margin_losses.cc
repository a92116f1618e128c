// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/margin_losses.h"

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/nn/similarity.h"
#include "spruce/nn/wide.h"

namespace spruce::nn {

using internal::narrow, internal::reduced, internal::require_floating, internal::require_same_shape,
    internal::wide;

Array HingeEmbeddingLossFunction::operator()(const Array& input, const Array& target,
                                             const HingeEmbeddingOptions& o, Loc loc) const {
  const OpScope at("hinge_embedding_loss", loc);
  require_same_shape("hinge_embedding_loss", input, target);
  const Array apart = where(target != 1, relu(o.margin - input), 0);
  return reduced(apart + where(target != -1, input, 0), o.reduction);
}

Array MarginRankingLossFunction::operator()(const Array& input1, const Array& input2,
                                            const Array& target, const MarginOptions& o,
                                            Loc loc) const {
  const OpScope at("margin_ranking_loss", loc);
  require_same_shape("margin_ranking_loss", input1, input2, "input1", "input2");
  spruce::internal::require_defined("margin_ranking_loss", "target", target);
  return reduced(relu(-astype(target, input1.dtype()) * (input1 - input2) + o.margin), o.reduction);
}

Array CosineEmbeddingLossFunction::operator()(const Array& input1, const Array& input2,
                                              const Array& target, const MarginOptions& o,
                                              Loc loc) const {
  const OpScope at("cosine_embedding_loss", loc);
  require_same_shape("cosine_embedding_loss", input1, input2, "input1", "input2");
  spruce::internal::require_defined("cosine_embedding_loss", "target", target);
  Shape examples = input1.shape();
  if (input1.rank() != 0) examples.erase(-1);
  if (input1.rank() < 1 || input1.rank() > 2 || !(target.shape() == examples)) {
    throw ShapeError("cosine_embedding_loss: the inputs are " + to_string(input1.aval()) +
                     ", the target is " + to_string(target.aval()) +
                     "; they must be f[n, d] and [n], or f[d] and []");
  }
  constexpr double kEps = 1e-12;
  const Array x = wide(input1), y = wide(input2);
  const Array squares = (sum(square(x), -1) + kEps) * (sum(square(y), -1) + kEps);
  const Array cosine = sum(x * y, -1) / sqrt(squares);
  const Array losses =
      where(target == 1, 1 - cosine, 0) + where(target == -1, relu(cosine - o.margin), 0);
  return narrow(reduced(losses, o.reduction), promote(input1.dtype(), input2.dtype()));
}

namespace {

Array triplet(const char* op, const Array& anchor, const Array& positive, const Array& negative,
              const TripletDistanceOptions& o) {
  spruce::internal::require_defined(op, "anchor", anchor, "positive", positive, "negative",
                                    negative);
  if (anchor.rank() != positive.rank() || anchor.rank() != negative.rank()) {
    throw ShapeError(std::string(op) + ": anchor is " + to_string(anchor.aval()) +
                     ", positive is " + to_string(positive.aval()) + ", negative is " +
                     to_string(negative.aval()) + "; they must have one rank");
  }
  const Array near = o.distance_function(anchor, positive);
  Array far = o.distance_function(anchor, negative);
  if (o.swap) far = minimum(far, o.distance_function(positive, negative));
  return reduced(relu(o.margin + near - far), o.reduction);
}

}  // namespace

Array TripletMarginLossFunction::operator()(const Array& anchor, const Array& positive,
                                            const Array& negative, const TripletMarginOptions& o,
                                            Loc loc) const {
  const OpScope at("triplet_margin_loss", loc);
  const auto distance = [&](const Array& a, const Array& b) {
    return pairwise_distance(a, b, {.p = o.p, .eps = o.eps});
  };
  return triplet("triplet_margin_loss", anchor, positive, negative,
                 {distance, o.margin, o.swap, o.reduction});
}

Array TripletMarginWithDistanceLossFunction::operator()(const Array& anchor, const Array& positive,
                                                        const Array& negative,
                                                        const TripletDistanceOptions& o,
                                                        Loc loc) const {
  const OpScope at("triplet_margin_with_distance_loss", loc);
  TripletDistanceOptions given = o;
  if (!given.distance_function) {
    given.distance_function = [](const Array& a, const Array& b) {
      return pairwise_distance(a, b);
    };
  }
  return triplet("triplet_margin_with_distance_loss", anchor, positive, negative, given);
}

Array SoftMarginLossFunction::operator()(const Array& input, const Array& target,
                                         const LossOptions& o, Loc loc) const {
  const OpScope at("soft_margin_loss", loc);
  require_same_shape("soft_margin_loss", input, target);
  return reduced(-logsigmoid(astype(target, input.dtype()) * input), o.reduction);
}

namespace {

void require_classes(const char* op, const Array& input, const Array& target, int less) {
  spruce::internal::require_defined(op, "input", input, "target", target);
  require_floating(op, input);
  if (!is_integer(target.dtype())) {
    throw DtypeError(std::string(op) + ": classes must be integers, got target " +
                     to_string(target.aval()) + "; convert with astype(target, int32)");
  }
  Shape wanted = input.shape();
  if (less == 1 && wanted.rank() > 0) wanted.erase(-1);
  if (input.rank() < 1 || input.rank() > 2 || !(target.shape() == wanted)) {
    throw ShapeError(std::string(op) + ": input is " + to_string(input.aval()) + ", target is " +
                     to_string(target.aval()) +
                     (less == 1 ? "; they must be f[n, classes] and i[n], or f[classes] and i[]"
                                : "; they must be f[n, classes] and i[n, classes], or f[classes] "
                                  "and i[classes]"));
  }
}

// How many classes there are, as a divisor.
double classes_of(const Array& input) { return static_cast<double>(input.shape().back()); }

}  // namespace

Array MultiMarginLossFunction::operator()(const Array& input, const Array& target,
                                          const MultiMarginOptions& o, Loc loc) const {
  const OpScope at("multi_margin_loss", loc);
  const spruce::internal::SameDevice here(input);
  require_classes("multi_margin_loss", input, target, 1);
  if (o.p != 1 && o.p != 2) {
    throw ValueError("multi_margin_loss: p is " + std::to_string(o.p) + ", it must be 1 or 2");
  }
  const int64_t classes = input.shape().back();
  const NanOutsideParams range = internal::class_range("multi_margin_loss", classes, input.dtype());
  check_known(target, range);
  if (classes == 0)
    throw ShapeError("multi_margin_loss: the input " + to_string(input.aval()) + " has no classes");
  const Array index = widened(target, classes), inside = nan_outside(index, range);
  const Array lead = rules::take_along(input, expand_dims(index, -1), input.rank() - 1);
  Array terms = wide(relu(o.margin - lead + input));
  if (o.p == 2) terms = square(terms);
  const Array other = arange(classes) != expand_dims(index, -1);
  Array losses = sum(where(other, terms, 0), -1) / classes_of(input) * inside;
  if (o.weight.defined()) {
    if (!(o.weight.shape() == Shape{classes})) {
      throw ShapeError("multi_margin_loss: weight is " + to_string(o.weight.aval()) +
                       ", it needs one entry for each of " + std::to_string(classes) + " classes");
    }
    losses = losses * rules::take_axis(astype(o.weight, losses.dtype()), index, 0);
  }
  return narrow(reduced(losses, o.reduction), input.dtype());
}

Array MultilabelMarginLossFunction::operator()(const Array& input, const Array& target,
                                               const LossOptions& o, Loc loc) const {
  const OpScope at("multilabel_margin_loss", loc);
  const spruce::internal::SameDevice here(input);
  require_classes("multilabel_margin_loss", input, target, 0);
  const int64_t classes = input.shape().back();
  const Array index = widened(target, classes);
  const Array valid = cumprod(astype(rules::is_within(index, classes), int32), -1) != 0;
  const Array safe = where(valid, index, 0);
  const Array lead = rules::take_along(input, safe, input.rank() - 1);  // f[n, j]
  const Array chosen = expand_dims(safe, -1) == arange(classes);        // [n, j, i]
  const Array mine = any(chosen & expand_dims(valid, -1), -2);          // [n, i]
  const Array terms = relu(1 - expand_dims(lead, -1) + expand_dims(input, -2));
  const Array counts = expand_dims(valid, -1) & !expand_dims(mine, -2);
  const Array losses = sum(where(counts, wide(terms), 0), {-2, -1}) / classes_of(input);
  return narrow(reduced(losses, o.reduction), input.dtype());
}

Array MultilabelSoftMarginLossFunction::operator()(const Array& input, const Array& target,
                                                   const MultilabelSoftMarginOptions& o,
                                                   Loc loc) const {
  const OpScope at("multilabel_soft_margin_loss", loc);
  require_same_shape("multilabel_soft_margin_loss", input, target);
  if (input.rank() == 0) {
    throw ShapeError("multilabel_soft_margin_loss: takes f[..., classes], got " +
                     to_string(input.aval()));
  }
  if (o.weight.defined()) {
    internal::require_broadcast("multilabel_soft_margin_loss", "weight", o.weight, input);
  }
  const Array t = astype(target, input.dtype());
  Array losses = bce_with_logits(input, t, {.reduction = Reduction::kNone});
  if (o.weight.defined()) losses = losses * o.weight;
  return reduced(mean(losses, -1), o.reduction);
}

}  // namespace spruce::nn
