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
