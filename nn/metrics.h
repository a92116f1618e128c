// SPDX-License-Identifier: Apache-2.0
// How well a model does: metrics as pure functions of arrays, and accumulators that are trees. All
// of them work under vmap, jit and scan; none has a gradient, unless it says so.
#pragma once

#include "spruce/core/array.h"

namespace spruce::nn {

/// What some metrics leave out.
struct MetricOptions {
  Array mask = {};  ///< bool, of the labels' shape: only where it is true; undefined: everywhere
};

/// The share of examples whose largest logit (the first of equal ones) is that of the label: f32[],
/// from f[..., classes] and i[...]. NaN for no examples. Throws ShapeError where shapes do not fit,
/// DtypeError for other dtypes.
inline constexpr struct AccuracyFunction {
  Array operator()(const Array& logits, const Array& labels, const MetricOptions& options = {},
                   Loc loc = Loc::current()) const;
} accuracy{};
/// The share of examples where fewer than k logits are larger than that of the label; of equal
/// logits those of lower classes count as larger. A label that is no class is a miss. Otherwise as
/// accuracy. Throws ValueError unless 1 <= k <= classes.
inline constexpr struct TopKAccuracyFunction {
  Array operator()(const Array& logits, const Array& labels, int64_t k,
                   const MetricOptions& options = {}, Loc loc = Loc::current()) const;
} top_k_accuracy{};

/// i32[classes, classes]: element [i, j] counts examples of class i that were taken for class j.
/// Labels and predictions are integers of one shape; those that are no class count nowhere.
/// Matrices of batches are added up. Throws ShapeError, DtypeError, and ValueError for no classes.
inline constexpr struct ConfusionMatrixFunction {
  Array operator()(const Array& predictions, const Array& labels, int64_t classes,
                   const MetricOptions& options = {}, Loc loc = Loc::current()) const;
} confusion_matrix{};

/// How the numbers of classes become one.
enum class Average : uint8_t {
  kNone,     ///< each class by itself: f32[classes]
  kMacro,    ///< the mean over classes
  kMicro,    ///< from the counts of all classes together
  kWeighted  ///< the mean, each class counting as often as it occurs
};
/// Of all that was taken for a class, the share that belongs to it, from a confusion matrix;
/// 0 where nothing was taken for it, as in scikit-learn. Throws ShapeError unless the matrix is
/// square.
inline constexpr struct PrecisionScoreFunction {
  Array operator()(const Array& matrix, Average average = Average::kMacro,
                   Loc loc = Loc::current()) const;
} precision_score{};
/// Of all that belongs to a class, the share that was taken for it; 0 where nothing does.
inline constexpr struct RecallScoreFunction {
  Array operator()(const Array& matrix, Average average = Average::kMacro,
                   Loc loc = Loc::current()) const;
} recall_score{};
/// The harmonic mean of precision and recall of each class, then averaged; 0 where both are 0.
inline constexpr struct F1ScoreFunction {
  Array operator()(const Array& matrix, Average average = Average::kMacro,
                   Loc loc = Loc::current()) const;
} f1_score{};

/// The area under the ROC curve: the probability that a positive example has a higher score than a
/// negative one, ties counting one half. f32[] (f64[] for f64 scores), from scores f[n] and labels
/// bool[n] or integers 0 and 1; exact, by ranks. NaN where one of the kinds is missing, a score is
/// NaN or a label another integer. Throws ShapeError unless both are of one shape and rank 1,
/// DtypeError.
inline constexpr struct RocAucFunction {
  Array operator()(const Array& scores, const Array& labels, Loc loc = Loc::current()) const;
} roc_auc{};

/// exp of the mean cross entropy: how many classes a model hesitates between. f[], from
/// f[..., classes] and i[...]. Grad: of the formula. Throws as cross_entropy; NaN for a label that
/// is no class where it is not known.
inline constexpr struct PerplexityFunction {
  Array operator()(const Array& logits, const Array& labels, const MetricOptions& options = {},
                   Loc loc = Loc::current()) const;
} perplexity{};

/// The mean of all numbers so far; a tree, so that it goes through jit and scan and is saved.
///
///   Mean m = Mean::zero();
///   m = m.add(losses);           // or add(losses, mask)
///   float now = m.value().item<double>();
struct Mean {
  Array total;  ///< f64[]: the sum
  Array count;  ///< f64[]: how many numbers

  /// Of no numbers.
  static Mean zero();
  /// With the elements of `values` (any dtype and shape), all of them or those for which `mask`,
  /// bool of the same shape, is true. Throws ShapeError, DtypeError.
  Mean add(const Array& values, const MetricOptions& options = {}, Loc loc = Loc::current()) const;
  /// Of both together.
  Mean merge(const Mean& other) const { return {total + other.total, count + other.count}; }
  /// f64[]: the mean; NaN for no numbers.
  Array value() const { return total / count; }
};

/// roc_auc over many batches: counts of scores in ranges of equal width. It is exact for scores
/// that are whole ranges apart, and off by at most the share of pairs that fall into one range.
struct RocCounts {
  Array positive;  ///< f64[ranges]: scores of positive examples
  Array negative;  ///< f64[ranges]: scores of the others

  /// Of no examples. Throws ValueError unless there are ranges.
  static RocCounts zero(int64_t ranges = 1024, Loc loc = Loc::current());
  /// With scores f[n] in 0 .. 1 (those outside count as the nearest) and labels as roc_auc takes
  /// them; from a NaN or another label on the counts are NaN. Throws as roc_auc.
  RocCounts add(const Array& scores, const Array& labels, Loc loc = Loc::current()) const;
  /// f64[]: the area so far.
  Array value() const;
};

}  // namespace spruce::nn
