// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/privacy.h"

#include "spruce/core/ops/linalg.h"

namespace spruce::optim::internal {

int64_t examples_of(const char* op, const std::vector<Array>& leaves) {
  int64_t batch = 0;
  for (const Array& g : leaves) {
    if (g.rank() == 0 || g.shape()[0] == 0 || (batch != 0 && g.shape()[0] != batch)) {
      throw ShapeError(std::string(op) + ": " + to_string(g.aval()) +
                       " among the gradients; each needs one axis of examples in front, of one "
                       "length for all: vmap the gradient of the loss of one example");
    }
    batch = g.shape()[0];
  }
  return batch;
}

Array clip_shares(const std::vector<Array>& leaves, const Hyperparam& most) {
  const Dtype wide = widest_dtype(leaves);
  Array squares = 0.0f;
  for (const Array& g : leaves)
    squares = squares + sum(square(astype(reshape(g, {g.shape()[0], -1}), wide)), 1);
  const Array norms = sqrt(squares), limit = most.in(norms.dtype());
  return where(norms > limit, limit / norms, ones_like(norms));
}

Array weighted_sum(const Array& share, const Array& g) {
  const Array flat = matmul(astype(share, g.dtype()), reshape(g, {g.shape()[0], -1}));
  Shape shape = g.shape();
  shape.erase(0);
  return reshape(flat, shape);
}

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
