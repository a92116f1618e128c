// SPDX-License-Identifier: Apache-2.0
// Lengths of vectors, and how near two of them are.
#pragma once

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"
#include "spruce/core/op_scope.h"

namespace spruce::nn {

/// Options of normalize.
struct NormalizeOptions {
  double p = 2;        ///< the order of the norm; infinity for the largest element
  Axis dim = 1;        ///< the axis of the vectors
  double eps = 1e-12;  ///< a norm below it counts as this
};
/// Vectors along one axis divided by their norms: of the shape of x. Throws ShapeError for an axis
/// that is not there, DtypeError unless x is floating, ValueError for a negative eps.
struct Normalize {
  /// normalize(x), by default along axis 1.
  Array operator()(const Array& x, const NormalizeOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type Normalize.
inline constexpr Normalize normalize{};

/// Options of cosine_similarity.
struct CosineSimilarityOptions {
  Axis dim = 1;       ///< the axis of the vectors, counted in the broadcast inputs
  double eps = 1e-8;  ///< a norm below it counts as this
};
/// The cosine of the angle between vectors along one axis of x1 and x2, which broadcast:
/// f[n, d], f[n, d] -> f[n]. Throws ShapeError, and ValueError for a negative eps.
inline constexpr struct CosineSimilarityFunction {
  Array operator()(const Array& x1, const Array& x2, const CosineSimilarityOptions& options = {},
                   Loc loc = Loc::current()) const;
} cosine_similarity{};

/// Options of pairwise_distance.
struct PairwiseDistanceOptions {
  double p = 2;          ///< the order of the norm
  double eps = 1e-6;     ///< added to each difference
  bool keepdim = false;  ///< keep the last axis with size 1
};
/// The norm of x1 - x2 + eps along the last axis; x1 and x2 broadcast: f[..., d], f[..., d] ->
/// f[...]. Throws ShapeError for shapes that do not broadcast, and for rank 0.
inline constexpr struct PairwiseDistanceFunction {
  Array operator()(const Array& x1, const Array& x2, const PairwiseDistanceOptions& options = {},
                   Loc loc = Loc::current()) const;
} pairwise_distance{};

/// Options of pdist.
struct PdistOptions {
  double p = 2;  ///< the order of the norm
};
/// The distances of all pairs of rows: f[n, d] -> f[n (n - 1) / 2], in the order (0, 1), (0, 2),
/// ..., (1, 2), ... Throws ShapeError for another rank.
struct Pdist {
  /// pdist(x), by default Euclid's distance.
  Array operator()(const Array& x, const PdistOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type Pdist.
inline constexpr Pdist pdist{};

/// cosine_similarity as a layer without parameters.
struct CosineSimilarity {
  int64_t dim = 1;    ///< the axis of the vectors
  double eps = 1e-8;  ///< a norm below it counts as this

  /// The result of cosine_similarity.
  Array operator()(const Array& x1, const Array& x2, Loc loc = Loc::current()) const {
    const OpScope at("CosineSimilarity", loc);
    return cosine_similarity(x1, x2, {.dim = dim, .eps = eps});
  }
};

/// pairwise_distance as a layer without parameters.
struct PairwiseDistance {
  double p = 2;          ///< the order of the norm
  double eps = 1e-6;     ///< added to each difference
  bool keepdim = false;  ///< keep the last axis with size 1

  /// The result of pairwise_distance.
  Array operator()(const Array& x1, const Array& x2, Loc loc = Loc::current()) const {
    const OpScope at("PairwiseDistance", loc);
    return pairwise_distance(x1, x2, {.p = p, .eps = eps, .keepdim = keepdim});
  }
};

}  // namespace spruce::nn
