// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/similarity.h"

#include <limits>
#include <vector>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/norm.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/ranges.h"

namespace spruce::nn {

using spruce::internal::check_range, spruce::internal::Range;

Array Normalize::operator()(const Array& x, const NormalizeOptions& o, Loc loc) const {
  const OpScope at("normalize", loc);
  spruce::internal::require_defined("normalize", "x", x);
  check_range("normalize", "eps", o.eps, Range::kNotNegative);
  if (!is_floating(x.dtype())) {
    throw DtypeError("normalize: x must be floating, got " + to_string(x.aval()) +
                     "; convert with astype");
  }
  const Array length = norm(x, {.ord = o.p, .axis = o.dim, .keepdims = true});
  return x / clip(length, o.eps, std::numeric_limits<double>::infinity());
}

Array CosineSimilarityFunction::operator()(const Array& x1, const Array& x2,
                                           const CosineSimilarityOptions& o, Loc loc) const {
  const OpScope at("cosine_similarity", loc);
  spruce::internal::require_defined("cosine_similarity", "x1", x1, "x2", x2);
  check_range("cosine_similarity", "eps", o.eps, Range::kNotNegative);
  const std::vector<Array> both = broadcast_arrays({x1, x2});
  const NormalizeOptions unit{.dim = o.dim, .eps = o.eps};
  return sum(normalize(both[0], unit) * normalize(both[1], unit), o.dim);
}

Array PairwiseDistanceFunction::operator()(const Array& x1, const Array& x2,
                                           const PairwiseDistanceOptions& o, Loc loc) const {
  const OpScope at("pairwise_distance", loc);
  spruce::internal::require_defined("pairwise_distance", "x1", x1, "x2", x2);
  return norm(x1 - x2 + o.eps, {.ord = o.p, .axis = -1, .keepdims = o.keepdim});
}

Array Pdist::operator()(const Array& x, const PdistOptions& o, Loc loc) const {
  const OpScope at("pdist", loc);
  const spruce::internal::SameDevice here(x);
  if (x.rank() != 2) throw ShapeError("pdist: takes f[n, d], got " + to_string(x.aval()));
  const auto n = static_cast<int32_t>(x.shape()[0]);
  std::vector<int32_t> first, second;
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = i + 1; j < n; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  return norm(take(x, array(first), 0) - take(x, array(second), 0), {.ord = o.p, .axis = -1});
}

}  // namespace spruce::nn
