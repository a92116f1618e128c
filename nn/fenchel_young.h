// SPDX-License-Identifier: Apache-2.0
// Losses made of a maximum (Blondel, Martins and Niculae 2020, https://arxiv.org/abs/1901.02324).
#pragma once

#include <functional>

#include "spruce/nn/loss.h"

namespace spruce::nn {

/// max(input) - sum(target input) for scores and targets f[..., n], where max, f[n] -> f[], is a
/// convex function; up to the constant of the target it is the loss whose gradient is grad(max)
/// (input) - target: logsumexp gives the cross entropy with logits.
class FenchelYoungLoss {
 public:
  /// The loss of that function, which is mapped over the axes in front.
  explicit FenchelYoungLoss(std::function<Array(const Array&)> max_fun)
      : max_fun_(std::move(max_fun)) {}
  /// f[..., n], f[..., n] -> f[], with Reduction::kNone f[...]. Throws ShapeError unless both have
  /// one shape of rank 1 or more, and where max gives an array that is not of rank 0.
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;

 private:
  std::function<Array(const Array&)> max_fun_;
};
/// make_fenchel_young_loss([](const Array& scores) { return sp::logsumexp(scores); })(scores,
/// target), as in Optax.
inline FenchelYoungLoss make_fenchel_young_loss(std::function<Array(const Array&)> max_fun) {
  return FenchelYoungLoss(std::move(max_fun));
}

}  // namespace spruce::nn
