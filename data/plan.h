// SPDX-License-Identifier: Apache-2.0
// Which examples make up each batch.
#pragma once

#include <optional>

#include "spruce/data/sampler.h"

namespace spruce::data {

/// What becomes of the examples at the end of an epoch that do not fill a batch.
enum class Rest : uint8_t {
  kKeep,  ///< they are a smaller batch
  kDrop,  ///< they are left out
  kPad    ///< the batch is filled up with the first examples of the epoch, and its mask says so
};

/// Options of batches.
struct BatchesOptions {
  int64_t batch_size = 32;  ///< examples in a batch
  Rest rest = Rest::kKeep;  ///< what becomes of the last, incomplete batch of an epoch
  int64_t epochs = 1;       ///< how often all examples are visited; 0: without end
  /// Shuffles every epoch anew, see shuffled(); without a key the examples come in order. Only
  /// where no sampler is given.
  Key key{};
  /// Batches that are made ahead, by a thread of their own; 0: none, each when it is asked for.
  int64_t prefetch = 0;
  int64_t first_step = 0;  ///< steps to skip at the start: where a run that was stopped goes on
};

namespace internal {

/// The numbers of the examples of one batch.
struct BatchPlan {
  std::vector<int64_t> indices;
  int64_t epoch = 0, index = 0, step = 0;
  int64_t count = 0;  // those that are not padding
};

/// Goes through the batches of all epochs.
class Planner {
 public:
  /// Throws ValueError for options out of range.
  Planner(Sampler sampler, const BatchesOptions& options);
  int64_t batches_per_epoch() const { return per_epoch_; }
  /// `loc` is the line of the user's code.
  std::optional<BatchPlan> next(Loc loc);

 private:
  Sampler sampler_;
  BatchesOptions options_;
  int64_t per_epoch_;
  int64_t step_;
  int64_t epoch_ = -1;  // whose order is in order_
  std::vector<int64_t> order_;
};

/// bool[size]: true for the first `count`.
Array mask_of(int64_t size, int64_t count);

}  // namespace internal
}  // namespace spruce::data
