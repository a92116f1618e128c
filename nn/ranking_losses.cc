// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/ranking_losses.h"

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/nn/wide.h"

namespace spruce::nn {

Array RankingSoftmaxLossFunction::operator()(const Array& input, const Array& target,
                                             const RankingOptions& o, Loc loc) const {
  const char* name = "ranking_softmax_loss";
  const OpScope at(name, loc);
  const spruce::internal::SameDevice here(input);
  internal::require_same_shape(name, input, target);
  if (input.rank() == 0) {
    throw ShapeError(std::string(name) + ": takes f[..., items], got " + to_string(input.aval()));
  }
  Array relevance = astype(target, input.dtype());
  if (o.weights.defined()) {
    internal::require_broadcast(name, "weights", o.weights, input);
    relevance = relevance * astype(o.weights, input.dtype());
  }
  const Array counts = internal::elements_that_count(name, o.where, input);
  const Array logs = internal::masked_log_softmax(input, -1, counts);
  const Array losses = -sum(where(counts, relevance * logs, 0), -1);
  if (o.reduction != Reduction::kMean) return internal::reduced(losses, o.reduction);
  const Array total = sum(internal::wide(losses));
  const Array count = maximum(count_nonzero(any(counts, -1)), 1);
  return internal::narrow(total / astype(count, total.dtype()), input.dtype());
}

}  // namespace spruce::nn
