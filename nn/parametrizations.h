// SPDX-License-Identifier: Apache-2.0
// Weights as functions of other parameters: what torch.nn.utils.parametrizations registers on a
// module is here a function to be called where the weight is needed. The model holds what it is
// called with:
//
//   struct Layer {
//     Array g, v, bias;
//     Array operator()(const Array& x) const {
//       return nn::linear(x, nn::weight_norm(g, v), bias);
//     }
//   };
#pragma once

#include <optional>

#include "spruce/core/random/random.h"

namespace spruce::nn {

/// Options of weight_norm and weight_norm_parts.
struct WeightNormOptions {
  std::optional<Axis> dim = 0;  ///< norms are taken over all axes but this; std::nullopt: over all
};
/// The magnitude and direction of a weight, PyTorch's original0 and original1.
struct WeightNormParts {
  Array g;  ///< norms: of the shape of the weight with 1 in all axes but dim
  Array v;  ///< the weight itself
};
/// g v / |v|, with the norm over all axes but dim (Salimans and Kingma 2016).
///
/// Shapes:  g f[n, 1, ...] and v f[n, ...] for dim 0 -> the shape of v
/// Throws:  ShapeError where g does not fit, or for a dim that is not there.
inline constexpr struct WeightNormFunction {
  Array operator()(const Array& g, const Array& v, const WeightNormOptions& options = {},
                   Loc loc = Loc::current()) const;
} weight_norm{};
/// The parts of which weight_norm makes this weight.
WeightNormParts weight_norm_parts(const Array& weight, const WeightNormOptions& options = {},
                                  Loc loc = Loc::current());

/// Options of spectral_norm.
struct SpectralNormOptions {
  int64_t n_power_iterations = 1;  ///< steps towards the largest singular value
  double eps = 1e-12;              ///< a norm below it counts as this
  Axis dim = 0;          ///< the axis of the rows of the matrix; 1 for transposed convolutions
  bool training = true;  ///< whether steps are taken; else u and v stay
};
/// What power iteration carries from call to call. A model holds both as Buffers.
struct SpectralNormState {
  Array u;  ///< f[n]: the left singular vector so far
  Array v;  ///< f[m]: the right one
};
/// The weight and the next state.
struct SpectralNormResult {
  Array weight;             ///< of the shape that was given
  SpectralNormState state;  ///< in training after n_power_iterations more steps
};
/// weight / sigma, where sigma = u^T W v is the largest singular value of W, the weight as a matrix
/// f[n, m] with axis dim in front (Miyato et al. 2018). u and v have no gradient; sigma has that of
/// u^T W v.
///
/// Shapes:  weight f[...] of rank 2 or more, u f[n], v f[m]
/// Throws:  ShapeError where they do not fit, ValueError for fewer than one iteration in training
///          and for a negative eps.
inline constexpr struct SpectralNormFunction {
  SpectralNormResult operator()(const Array& weight, const SpectralNormState& state,
                                const SpectralNormOptions& options = {},
                                Loc loc = Loc::current()) const;
} spectral_norm{};
/// u and v for a weight: random, after 15 iterations. Throws as spectral_norm.
SpectralNormState spectral_norm_state(const Key& key, const Array& weight,
                                      const SpectralNormOptions& options = {},
                                      Loc loc = Loc::current());

/// How orthogonal makes an orthogonal matrix.
enum class OrthogonalMap : uint8_t {
  kMatrixExp,    ///< exp(A - A^T), with the lower triangle A of the weight
  kCayley,       ///< (1 - S / 2)^-1 (1 + S / 2) with S = A - A^T
  kHouseholder,  ///< a product of reflections at the columns of the lower triangle
};
/// Options of orthogonal.
struct OrthogonalMapOptions {
  std::optional<OrthogonalMap> map = {};  ///< kMatrixExp for square matrices, else kHouseholder
};
/// A matrix with orthonormal columns, or rows where it is wide, as a function of any weight
/// (Lezcano-Casado and Martinez-Rubio 2019). PyTorch's orthogonal with use_trivialization=False,
/// without the signs that it keeps on the diagonal for "householder".
///
/// Shapes:  weight f[n, m] -> f[n, m]
/// Throws:  ShapeError for other ranks, DtypeError unless the weight is floating.
inline constexpr struct OrthogonalFunction {
  Array operator()(const Array& weight, const OrthogonalMapOptions& options = {},
                   Loc loc = Loc::current()) const;
} orthogonal{};

}  // namespace spruce::nn
