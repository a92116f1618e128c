// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/metrics.h"

#include <limits>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/rearrange.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/ops/take.h"
#include "spruce/nn/loss.h"

namespace spruce::nn {
namespace {

[[noreturn]] void throw_pair(const char* op, const char* a_name, const Array& a, const char* b_name,
                             const Array& b, const char* rule) {
  throw ShapeError(std::string(op) + ": " + a_name + " are " + to_string(a.aval()) + " and " +
                   b_name + " " + to_string(b.aval()) + "; " + rule);
}

void check_integers(const char* op, const char* name, const Array& x) {
  if (is_integer(x.dtype())) return;
  throw DtypeError(std::string(op) + ": " + name + " are " + to_string(x.aval()) +
                   "; give numbers of classes as integers");
}

void check_mask(const char* op, const Array& mask, const Array& of) {
  if (!mask.defined()) return;
  if (!is_bool(mask.dtype())) {
    throw DtypeError(std::string(op) + ": the mask is " + to_string(mask.aval()) + "; give bool");
  }
  if (!(mask.shape() == of.shape())) {
    throw ShapeError(std::string(op) + ": the mask is " + to_string(mask.aval()) +
                     " and what it chooses from " + to_string(of.aval()) + "; both need one shape");
  }
}

// Checks logits f[..., classes] and labels i[...].
void check_logits(const char* op, const Array& logits, const Array& labels,
                  const MetricOptions& o) {
  if (!is_floating(logits.dtype())) {
    throw DtypeError(std::string(op) + ": the logits are " + to_string(logits.aval()) +
                     "; give floating ones");
  }
  check_integers(op, "the labels", labels);
  const int rank = labels.rank();
  bool fits = logits.rank() == rank + 1 && logits.shape()[rank] > 0;
  for (int k = 0; fits && k < rank; ++k) fits = logits.shape()[k] == labels.shape()[k];
  if (!fits) {
    throw_pair(op, "the logits", logits, "the labels", labels,
               "logits need one axis more, of at least one class, behind those of the labels");
  }
  check_mask(op, o.mask, labels);
}

// f32[]: the share of `hits` that are true.
Array share(const Array& hits, const MetricOptions& o) {
  const Array chosen = o.mask.defined() ? o.mask : ones_like(hits);
  return astype(sum(astype(hits & chosen, int64)), float32) /
         astype(sum(astype(chosen, int64)), float32);
}

// a / b, and 0 where b is.
Array ratio(const Array& a, const Array& b) {
  const Array none = equal(b, 0.0f);
  return where(none, zeros_like(a), a / where(none, ones_like(b), b));
}

struct Counts {
  Array hits, taken, there;  // f32[classes] or, of all together, f32[]
};

Counts counts_of(const char* op, const Array& matrix, Average average) {
  const spruce::internal::SameDevice here(matrix);
  if (matrix.rank() != 2 || matrix.shape()[0] != matrix.shape()[1]) {
    throw ShapeError(std::string(op) + ": the matrix is " + to_string(matrix.aval()) +
                     "; give a square one, as confusion_matrix() does");
  }
  const Array m = astype(matrix, float64);
  const int64_t n = matrix.shape()[0];
  const Array diagonal = sum(m * eye(n, {.dtype = float64}), 1);
  Counts c{diagonal, sum(m, 0), sum(m, 1)};
  if (average == Average::kMicro) c = {sum(c.hits), sum(c.taken), sum(c.there)};
  return c;
}

Array averaged(const Array& of_classes, const Counts& c, Average average) {
  Array out = of_classes;
  if (average == Average::kMacro) out = mean(of_classes);
  if (average == Average::kWeighted) out = ratio(sum(of_classes * c.there), sum(c.there));
  return astype(out, float32);
}

// The labels as f64, NaN where they are neither 0 nor 1 or where the score is NaN.
Array checked_labels(const char* op, const Array& scores, const Array& labels) {
  if (!is_floating(scores.dtype())) {
    throw DtypeError(std::string(op) + ": the scores are " + to_string(scores.aval()) +
                     "; give floating ones");
  }
  if (is_floating(labels.dtype())) {
    throw DtypeError(std::string(op) + ": the labels are " + to_string(labels.aval()) +
                     "; give bool, or integers 0 and 1");
  }
  if (scores.rank() != 1 || !(scores.shape() == labels.shape()))
    throw_pair(op, "the scores", scores, "the labels", labels, "both need one shape of rank 1");
  const Array known = (equal(labels, 0) | equal(labels, 1)) & !isnan(scores);
  return where(known, astype(labels, float64), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

Array AccuracyFunction::operator()(const Array& logits, const Array& labels, const MetricOptions& o,
                                   Loc loc) const {
  const OpScope at("accuracy", loc);
  check_logits("accuracy", logits, labels, o);
  return share(equal(argmax(logits, -1), labels), o);
}

Array TopKAccuracyFunction::operator()(const Array& logits, const Array& labels, int64_t k,
                                       const MetricOptions& o, Loc loc) const {
  const OpScope at("top_k_accuracy", loc);
  check_logits("top_k_accuracy", logits, labels, o);
  const int64_t classes = logits.shape()[logits.rank() - 1];
  if (k < 1 || k > classes) {
    throw ValueError("top_k_accuracy: k is " + std::to_string(k) + " and there are " +
                     std::to_string(classes) + " classes; it has to be in 1 .. classes");
  }
  const Array best = top_k(logits, k, -1).second;
  return share(any(equal(best, expand_dims(labels, -1)), -1), o);
}

Array ConfusionMatrixFunction::operator()(const Array& predictions, const Array& labels,
                                          int64_t classes, const MetricOptions& o, Loc loc) const {
  const OpScope at("confusion_matrix", loc);
  check_integers("confusion_matrix", "the predictions", predictions);
  check_integers("confusion_matrix", "the labels", labels);
  if (classes < 1 || classes > 46340) {
    throw ValueError("confusion_matrix: there are " + std::to_string(classes) +
                     " classes; give 1 .. 46340");
  }
  if (!(predictions.shape() == labels.shape())) {
    throw_pair("confusion_matrix", "the predictions", predictions, "the labels", labels,
               "both need one shape");
  }
  check_mask("confusion_matrix", o.mask, labels);
  const auto is_class = [&](const Array& x) {
    const Array wide = astype(x, int64);
    return (wide >= 0) & (wide < classes);
  };
  Array counted = is_class(predictions) & is_class(labels);
  if (o.mask.defined()) counted = counted & o.mask;
  const Array place = astype(labels, int64) * classes + astype(predictions, int64);
  const Array places = astype(where(counted, place, -1), int32);
  return astype(bincount(places, classes * classes), int32).reshape({classes, classes});
}

Array PrecisionScoreFunction::operator()(const Array& matrix, Average average, Loc loc) const {
  const OpScope at("precision_score", loc);
  const Counts c = counts_of("precision_score", matrix, average);
  return averaged(ratio(c.hits, c.taken), c, average);
}

Array RecallScoreFunction::operator()(const Array& matrix, Average average, Loc loc) const {
  const OpScope at("recall_score", loc);
  const Counts c = counts_of("recall_score", matrix, average);
  return averaged(ratio(c.hits, c.there), c, average);
}

Array F1ScoreFunction::operator()(const Array& matrix, Average average, Loc loc) const {
  const OpScope at("f1_score", loc);
  const Counts c = counts_of("f1_score", matrix, average);
  return averaged(ratio(2.0 * c.hits, c.taken + c.there), c, average);
}

Array RocAucFunction::operator()(const Array& scores, const Array& labels, Loc loc) const {
  const OpScope at("roc_auc", loc);
  const Array is = checked_labels("roc_auc", scores, labels);
  // The rank of a score is the mean of the places that equal ones have.
  const Array sorted = sort(scores);
  const Array below = astype(searchsorted(sorted, scores), float64),
              up_to = astype(searchsorted(sorted, scores, {.right = true}), float64);
  const Array rank = (below + up_to + 1.0) / 2.0;
  const Array p = sum(is), n = static_cast<double>(scores.size()) - p;
  const Array area = (sum(rank * is) - p * (p + 1.0) / 2.0) / (p * n);
  return astype(area, scores.dtype() == float64 ? float64 : float32);
}

Array PerplexityFunction::operator()(const Array& logits, const Array& labels,
                                     const MetricOptions& o, Loc loc) const {
  const OpScope at("perplexity", loc);
  check_logits("perplexity", logits, labels, o);
  const int64_t classes = logits.shape()[logits.rank() - 1];
  const Array rows = reshape(logits, {-1, classes}), wanted = labels.reshape({-1});
  if (!o.mask.defined()) return exp(cross_entropy(rows, wanted));
  const Array chosen = o.mask.reshape({-1});
  // What is masked may be no class at all.
  const Array losses = cross_entropy(rows, where(chosen, wanted, zeros_like(wanted)),
                                     {.reduction = Reduction::kNone});
  const Array weight = astype(chosen, losses.dtype());
  return exp(sum(where(chosen, losses, zeros_like(losses))) / sum(weight));
}

Mean Mean::zero() { return {zeros({}, float64), zeros({}, float64)}; }

Mean Mean::add(const Array& values, const MetricOptions& o, Loc loc) const {
  const OpScope at("Mean::add", loc);
  check_mask("Mean::add", o.mask, values);
  const Array wide = astype(values, float64);
  if (!o.mask.defined()) return {total + sum(wide), count + static_cast<double>(values.size())};
  return {total + sum(where(o.mask, wide, zeros_like(wide))), count + sum(astype(o.mask, float64))};
}

RocCounts RocCounts::zero(int64_t ranges, Loc loc) {
  const OpScope at("RocCounts::zero", loc);
  if (ranges < 1)
    throw ValueError("RocCounts::zero: there are " + std::to_string(ranges) + " ranges");
  return {zeros({ranges}, float64), zeros({ranges}, float64)};
}

RocCounts RocCounts::add(const Array& scores, const Array& labels, Loc loc) const {
  const OpScope at("RocCounts::add", loc);
  const Array is = checked_labels("RocCounts::add", scores, labels);
  const int64_t ranges = positive.shape()[0];
  const auto n = static_cast<double>(ranges);
  const Array place = astype(clip(floor(astype(scores, float64) * n), 0.0, n - 1), int32);
  return {positive + bincount(place, ranges, is), negative + bincount(place, ranges, 1.0 - is)};
}

Array RocCounts::value() const {
  // Negative examples in lower ranges, and half of those in the same.
  const Array below = cumsum(negative) - negative / 2.0;
  return sum(positive * below) / (sum(positive) * sum(negative));
}

}  // namespace spruce::nn
