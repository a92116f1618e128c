// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/fenchel_young.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/transforms/vmap/vmap.h"

namespace spruce::nn {

Array FenchelYoungLoss::operator()(const Array& input, const Array& target, const LossOptions& o,
                                   Loc loc) const {
  const char* name = "make_fenchel_young_loss";
  const OpScope at(name, loc);
  internal::require_same_shape(name, input, target);
  if (input.rank() == 0) {
    throw ShapeError(std::string(name) + ": takes f[..., n], got " + to_string(input.aval()));
  }
  Shape lists = input.shape();
  lists.erase(-1);
  Array most;
  if (lists.rank() == 0) {
    most = max_fun_(input);
  } else {
    most = vmap(max_fun_)(reshape(input, {lists.numel(), input.shape().back()}));
    if (most.rank() == 1) most = reshape(most, lists);
  }
  if (!(most.shape() == lists)) {
    throw ShapeError(std::string(name) + ": the function gives " + to_string(most.aval()) +
                     " for the scores " + to_string(input.aval()) +
                     "; it must give one number, f[], for a vector");
  }
  return internal::reduced(most - sum(astype(target, input.dtype()) * input, -1), o.reduction);
}

}  // namespace spruce::nn
