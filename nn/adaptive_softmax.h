// SPDX-License-Identifier: Apache-2.0
// The adaptive softmax: many classes, of which few are frequent.
#pragma once

#include <array>
#include <vector>

#include "spruce/nn/linear.h"

namespace spruce::nn {

/// Options of AdaptiveLogSoftmaxWithLoss.
struct AdaptiveSoftmaxOptions {
  double div_value = 4;  ///< by how much the layers of each cluster are narrower than those before
  bool head_bias = false;     ///< whether the head has a bias
  Dtype dtype = float32;      ///< of the parameters
  Device* device = nullptr;   ///< where they are made; null: the default device
  init::LayerInit init = {};  ///< of all weights, and of the bias of the head
};
/// What AdaptiveLogSoftmaxWithLoss returns.
struct AdaptiveSoftmaxResult {
  Array output;  ///< f[n], or f[] for one example: the log-probability of the target
  Array loss;    ///< f[]: the negative of its mean
};
/// A classifier whose classes are in the order of their frequency: the first cutoffs[0] have
/// logits of their own in the head, those between two cutoffs share one there and have narrow
/// layers of their own (Grave et al. 2017). PyTorch computes a cluster for the examples that need
/// it; here all clusters are computed, and shapes do not depend on targets.
///
/// Parameters: head.weight f32[cutoffs[0] + clusters, in], and for each cluster i tail.i.0.weight
/// f32[in / div_value^(i + 1), in] and tail.i.1.weight.
struct AdaptiveLogSoftmaxWithLoss {
  Linear head;                              ///< frequent classes, then the clusters
  std::vector<std::array<Linear, 2>> tail;  ///< two layers for each cluster

  /// `cutoffs` rise and are below n_classes. Keys in the order of the layers. Throws ValueError for
  /// other cutoffs or a div_value that is not positive.
  static AdaptiveLogSoftmaxWithLoss init(const Key& key, int64_t in_features, int64_t n_classes,
                                         const std::vector<int64_t>& cutoffs,
                                         const AdaptiveSoftmaxOptions& options = {},
                                         Loc loc = Loc::current());
  /// The log-probabilities of all classes: f[n, in] -> f[n, classes].
  Array log_prob(const Array& x, Loc loc = Loc::current()) const;
  /// The most probable class: f[n, in] -> i32[n].
  Array predict(const Array& x, Loc loc = Loc::current()) const;
  /// f[n, in], i[n] or f[in], i[]. Throws ShapeError, DtypeError and IndexError as nll_loss, of
  /// which -100 is left out.
  AdaptiveSoftmaxResult operator()(const Array& x, const Array& target,
                                   Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
