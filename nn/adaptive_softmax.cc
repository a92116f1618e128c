// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/adaptive_softmax.h"

#include <cmath>
#include <limits>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/loss.h"

namespace spruce::nn {

AdaptiveLogSoftmaxWithLoss AdaptiveLogSoftmaxWithLoss::init(const Key& given, int64_t in_features,
                                                            int64_t n_classes,
                                                            const std::vector<int64_t>& cutoffs,
                                                            const AdaptiveSoftmaxOptions& o,
                                                            Loc loc) {
  const OpScope at("AdaptiveLogSoftmaxWithLoss::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  spruce::internal::check_range("AdaptiveLogSoftmaxWithLoss::init", "div_value", o.div_value,
                                spruce::internal::Range::kPositive);
  bool rises = !cutoffs.empty() && cutoffs.back() < n_classes;
  for (size_t i = 0; i < cutoffs.size(); ++i)
    rises = rises && cutoffs[i] > (i == 0 ? 0 : cutoffs[i - 1]);
  if (!rises) {
    throw ValueError("AdaptiveLogSoftmaxWithLoss::init: cutoffs " + to_string(Shape(cutoffs)) +
                     " must be positive, rise, and end below n_classes, which is " +
                     std::to_string(n_classes));
  }
  const auto clusters = static_cast<int64_t>(cutoffs.size());
  const Key keys = random::split(key, 1 + 2 * clusters);
  AdaptiveLogSoftmaxWithLoss layer;
  layer.head = Linear::init(keys[0], in_features, cutoffs[0] + clusters,
                            {.bias = o.head_bias, .dtype = o.dtype, .init = o.init});
  const LinearOptions plain{.bias = false, .dtype = o.dtype, .init = o.init};
  for (int64_t i = 0; i < clusters; ++i) {
    const auto n = static_cast<size_t>(i);
    const double wanted = std::floor(static_cast<double>(in_features) /
                                     std::pow(o.div_value, static_cast<double>(i + 1)));
    if (!(wanted >= 1 && wanted <= std::numeric_limits<int32_t>::max())) {
      throw ValueError("AdaptiveLogSoftmaxWithLoss::init: div_value " +
                       spruce::internal::number_text(o.div_value) + " leaves cluster " +
                       std::to_string(i) + " a width of " + spruce::internal::number_text(wanted) +
                       "; it must be at least 1 and fit i32");
    }
    const auto width = static_cast<int64_t>(wanted);
    const int64_t classes = (n + 1 < cutoffs.size() ? cutoffs[n + 1] : n_classes) - cutoffs[n];
    layer.tail.push_back({Linear::init(keys[1 + 2 * i], in_features, width, plain),
                          Linear::init(keys[2 + 2 * i], width, classes, plain)});
  }
  return layer;
}

Array AdaptiveLogSoftmaxWithLoss::log_prob(const Array& x, Loc loc) const {
  const OpScope at("AdaptiveLogSoftmaxWithLoss", loc);
  const Array logs = log_softmax(head(x));
  const auto clusters = static_cast<int64_t>(tail.size());
  const int64_t frequent = logs.shape(-1) - clusters;
  std::vector<Array> parts{logs[{ellipsis, slice(frequent)}]};
  for (int64_t i = 0; i < clusters; ++i) {
    const auto& [narrow, wide] = tail[static_cast<size_t>(i)];
    const Array cluster = logs[{ellipsis, slice(frequent + i, frequent + i + 1)}];
    parts.push_back(cluster + log_softmax(wide(narrow(x))));
  }
  return concatenate(parts, -1);
}

Array AdaptiveLogSoftmaxWithLoss::predict(const Array& x, Loc loc) const {
  const OpScope at("AdaptiveLogSoftmaxWithLoss", loc);
  return argmax(log_prob(x), -1);
}

AdaptiveSoftmaxResult AdaptiveLogSoftmaxWithLoss::operator()(const Array& x, const Array& target,
                                                             Loc loc) const {
  const OpScope at("AdaptiveLogSoftmaxWithLoss", loc);
  const Array losses = nll_loss(log_prob(x), target, {.reduction = Reduction::kNone});
  return {-losses, mean(losses)};
}

}  // namespace spruce::nn
