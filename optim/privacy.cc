// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/privacy.h"

#include <optional>

#include "spruce/core/ops/linalg.h"

namespace spruce::optim::internal {
namespace {

Shape shape_of_one(const Array& g) {
  Shape shape = g.shape();
  shape.erase(0);
  return shape;
}

// f[n, elements of one example].
Array in_rows(const Array& g) { return reshape(g, {g.shape()[0], shape_of_one(g).numel()}); }

}  // namespace

int64_t examples_of(const char* op, const std::vector<Array>& leaves) {
  std::optional<int64_t> batch;
  for (const Array& g : leaves) {
    if (g.rank() == 0 || g.shape()[0] != batch.value_or(g.shape()[0])) {
      throw ShapeError(std::string(op) + ": " + to_string(g.aval()) +
                       " among the gradients; each needs one axis of examples in front, of one "
                       "length for all: vmap the gradient of the loss of one example");
    }
    batch = g.shape()[0];
  }
  return batch.value_or(0);
}

Array clip_shares(const std::vector<Array>& leaves, const Hyperparam& most) {
  const Dtype wide = widest_dtype(leaves);
  Array squares = 0.0f;
  for (const Array& g : leaves) squares = squares + sum(square(astype(in_rows(g), wide)), 1);
  const Array norms = sqrt(squares), limit = most.in(norms.dtype());
  return where(norms > limit, limit / norms, ones_like(norms));
}

Array weighted_sum(const Array& share, const Array& g) {
  return reshape(matmul(astype(share, g.dtype()), in_rows(g)), shape_of_one(g));
}

void check_not_empty(const char* op, int64_t examples) {
  if (examples > 0) return;
  throw ShapeError(std::string(op) +
                   ": the batch has no examples, and there is no mean over none; leave the update "
                   "out, or add noise to the sums of per_example_global_norm_clip and divide by "
                   "the expected size of a batch");
}

int64_t elements_of_one(const Array& g) { return shape_of_one(g).numel(); }

}  // namespace spruce::optim::internal

namespace spruce::optim {

PrivateAggregate differentially_private_aggregate(PrivateAggregate o, Loc loc) {
  const LocScope at(loc);
  using spruce::internal::Range;
  const char* name = "differentially_private_aggregate";
  o.l2_norm_clip.check(name, "l2_norm_clip", Range::kPositive);
  o.noise_multiplier.check(name, "noise_multiplier", Range::kNotNegative);
  return o;
}

Chain<PrivateAggregate, Sgd> dpsgd(DpsgdOptions o, Loc loc) {
  const OpScope at("dpsgd", loc);
  return named_chain(
      "dpsgd", differentially_private_aggregate({o.l2_norm_clip, o.noise_multiplier, o.key}),
      sgd({.learning_rate = o.learning_rate, .momentum = o.momentum, .nesterov = o.nesterov}));
}

}  // namespace spruce::optim
