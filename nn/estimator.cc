// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/estimator.h"

#include <cmath>

#include "spruce/core/error_text.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"

namespace spruce::nn::internal {

EstimatorOptions checked_options(const EstimatorOptions& options) {
  if (options.epochs < 0) {
    throw ValueError("estimator: epochs is " + std::to_string(options.epochs) +
                     "; it is 0 or more");
  }
  if (options.batch_size < 1) {
    throw ValueError("estimator: batch_size is " + std::to_string(options.batch_size) +
                     "; a batch has at least one example");
  }
  return options;
}

int64_t checked_examples(const char* op, const Array& x, const Array& y) {
  if (x.rank() == 0 || y.rank() == 0 || x.shape(0) != y.shape(0) || x.shape(0) == 0) {
    throw ShapeError(std::string(op) + ": x is " + to_string(x.aval()) + " and y " +
                     to_string(y.aval()) +
                     "; both have one entry along axis 0 for each example, and there is at least "
                     "one");
  }
  return x.shape(0);
}

std::vector<Array> batches(const EstimatorOptions& options, const Key& key, int64_t n) {
  const Array order = options.shuffle ? random::permutation(key, n) : arange(n).astype(int32);
  std::vector<Array> out;
  for (int64_t at = 0; at < n; at += options.batch_size) {
    const int64_t end = std::min(n, at + options.batch_size);
    // A smaller one counts where it is the only one.
    if (options.drop_last && end - at < options.batch_size && at > 0) break;
    out.push_back(order[slice(at, end)]);
  }
  return out;
}

float known_loss(const char* op, const Array& loss, int64_t step, int64_t epoch) {
  const auto value = loss.astype(float32).item<float>();
  if (!std::isnan(value)) return value;
  const std::string which =
      step < 0 ? "this step"
               : "step " + std::to_string(step) + ", in epoch " + std::to_string(epoch);
  throw ValueError(std::string(op) + ": the loss of " + which +
                   " is NaN (steps and epochs count from 0); look for NaN in the data, take a "
                   "smaller learning rate or optim::clip_by_global_norm; SPRUCE_DEBUG_NANS=1 names "
                   "the operation that makes the first NaN");
}

void throw_one_example(const ValueError& e, int64_t batch_size) {
  throw ValueError(spruce::internal::without_place(e) + "; the last of the batches of " +
                   std::to_string(batch_size) +
                   " has one example: leave it out with {.drop_last = true}");
}

float score(const Array& predicted, const Array& y) {
  const bool classes = is_integer(y.dtype()) || is_bool(y.dtype());
  if (classes && predicted.rank() == y.rank() + 1) {
    const Array hits = argmax(predicted, -1) == y;
    return mean(hits.astype(float32)).item<float>();
  }
  if (!(predicted.shape() == y.shape())) {
    throw ShapeError("score: the prediction is " + to_string(predicted.aval()) + " and y " +
                     to_string(y.aval()) +
                     "; they have one shape, or y are integers and predictions have an entry for "
                     "each class");
  }
  if (classes && y.size() == y.shape(0) && all((y == 0) | (y == 1)).item<bool>()) {
    const Array hits = (predicted > 0) == (y == 1);
    return mean(hits.astype(float32)).item<float>();
  }
  const Array t = y.astype(float64), rest = t - predicted.astype(float64), all = t - mean(t, 0);
  const double unexplained = sum(rest * rest).item<double>(), total = sum(all * all).item<double>();
  if (total == 0) return unexplained == 0 ? 1.0f : 0.0f;
  return static_cast<float>(1 - unexplained / total);
}

}  // namespace spruce::nn::internal
