// SPDX-License-Identifier: Apache-2.0
// Images read at computed places: spatial transformers.
#pragma once

#include "spruce/core/array.h"

namespace spruce::nn {

/// How elements between those of the input are read.
enum class GridSampleMode {
  kBilinear,  ///< of the nearest elements, two along each axis
  kNearest,   ///< the nearest one
  kBicubic    ///< by cubic convolution of four along each of two axes
};
/// What stands outside of the input.
enum class GridSamplePadding {
  kZeros,      ///< zeros
  kBorder,     ///< the element at the border
  kReflection  ///< a mirror
};

/// Options of grid_sample.
struct GridSampleOptions {
  GridSampleMode mode = GridSampleMode::kBilinear;             ///< how elements are read
  GridSamplePadding padding_mode = GridSamplePadding::kZeros;  ///< what stands outside
  bool align_corners = false;  ///< whether -1 and 1 are the centres of the outermost elements,
                               ///< rather than their outer edges
};
/// `x` at the places of `grid`, whose last axis holds x, y (and z) in -1..1: x along the last axis
/// of the input (Jaderberg et al. 2015).
///
/// Shapes:  x f[n, c, h, w] with grid f[n, h', w', 2] -> f[n, c, h', w'];
///          x f[n, c, d, h, w] with grid f[n, d', h', w', 3] -> f[n, c, d', h', w']
/// Throws:  ShapeError where they do not fit or x has no elements; DtypeError unless both are of
/// one
///          floating dtype; ValueError for kBicubic over three axes.
/// Grad:    to x and, but for kNearest, to the grid.
inline constexpr struct GridSampleFunction {
  Array operator()(const Array& x, const Array& grid, const GridSampleOptions& options = {},
                   Loc loc = Loc::current()) const;
} grid_sample{};

/// Options of affine_grid.
struct AffineGridOptions {
  bool align_corners = false;  ///< as in GridSampleOptions
};
/// The grid that grid_sample reads for an affine map: theta times the coordinates of each element.
///
/// Shapes:  theta f[n, 2, 3] with size {n, c, h, w} -> f[n, h, w, 2];
///          theta f[n, 3, 4] with size {n, c, d, h, w} -> f[n, d, h, w, 3]
/// Throws:  ShapeError where they do not fit.
inline constexpr struct AffineGridFunction {
  Array operator()(const Array& theta, const Shape& size, const AffineGridOptions& options = {},
                   Loc loc = Loc::current()) const;
} affine_grid{};

}  // namespace spruce::nn
