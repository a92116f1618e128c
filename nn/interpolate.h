// SPDX-License-Identifier: Apache-2.0
// Arrays at another resolution.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/op_scope.h"
#include "spruce/nn/window_arg.h"

namespace spruce::nn {

/// How elements between those of the input are made.
enum class InterpolateMode {
  kNearest,              ///< the element at floor(i in / out)
  kNearestExact,         ///< the element whose centre is nearest
  kLinear,               ///< of two neighbours of each axis: "linear", "bilinear" and "trilinear"
  kBilinear = kLinear,   ///< its name for two axes
  kTrilinear = kLinear,  ///< its name for three axes
  kBicubic,              ///< cubic convolution of four neighbours of each of two axes (Keys 1981)
  kArea                  ///< the mean of the elements that each covers: adaptive_avg_pool
};

/// Factors of size: one for all spatial axes, or one for each.
class ScaleArg {
 public:
  /// Not given.
  ScaleArg() = default;
  /// The same for every axis.
  ScaleArg(double all) : values_{all} {}
  /// One for each axis.
  ScaleArg(std::initializer_list<double> each) : values_(each) {}
  ScaleArg(std::vector<double> each) : values_(std::move(each)) {}

  /// The numbers as they were given; empty where there are none.
  const std::vector<double>& values() const { return values_; }

 private:
  friend struct TreeTraits<ScaleArg>;
  std::vector<double> values_;
};

/// Options of interpolate: size or scale_factor, not both.
struct InterpolateOptions {
  WindowArg size = Shape{};    ///< of the spatial axes of the result
  ScaleArg scale_factor = {};  ///< the result has floor(factor times size) elements
  InterpolateMode mode = InterpolateMode::kNearest;  ///< see InterpolateMode
  bool align_corners = false;  ///< whether the outermost elements stay where they are, rather than
                               ///< the outermost edges; of kLinear and kBicubic
  bool recompute_scale_factor = false;  ///< whether places follow from the sizes, and not from
                                        ///< scale_factor
  bool antialias = false;  ///< whether elements are smoothed where the result is smaller; of
                           ///< kLinear and kBicubic over two axes
};
/// `x` at another resolution, with PyTorch's places and weights.
///
/// Shapes:  f[n, c, d...] -> f[n, c, d'...], with one to three spatial axes
/// Throws:  ShapeError for other ranks, sizes below 1 and numbers of another length; ValueError
/// where
///          not exactly one of size and scale_factor is given, or a mode does not go with the
///          number of axes or with align_corners or antialias; DtypeError unless x is floating.
inline constexpr struct InterpolateFunction {
  Array operator()(const Array& x, const InterpolateOptions& options,
                   Loc loc = Loc::current()) const;
} interpolate{};

/// interpolate as a layer without parameters.
struct Upsample {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = "mode{nearest,nearest-exact,linear,bicubic,area}";

  WindowArg size = Shape{};                          ///< of the spatial axes of the result
  ScaleArg scale_factor = {};                        ///< or factors
  InterpolateMode mode = InterpolateMode::kNearest;  ///< see InterpolateMode
  bool align_corners = false;                        ///< as in InterpolateOptions

  /// The result of interpolate.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("Upsample", loc);
    return interpolate(x, {size, scale_factor, mode, align_corners});
  }
};

/// Upsample by InterpolateMode::kNearest over two spatial axes.
struct UpsamplingNearest2d {
  WindowArg size = Shape{};    ///< of the spatial axes of the result
  ScaleArg scale_factor = {};  ///< or factors

  /// The result of interpolate.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("UpsamplingNearest2d", loc);
    return interpolate(x, {size, scale_factor});
  }
};
/// Upsample by InterpolateMode::kBilinear with align_corners over two spatial axes.
struct UpsamplingBilinear2d {
  WindowArg size = Shape{};    ///< of the spatial axes of the result
  ScaleArg scale_factor = {};  ///< or factors

  /// The result of interpolate.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("UpsamplingBilinear2d", loc);
    return interpolate(x, {size, scale_factor, InterpolateMode::kBilinear, true});
  }
};

namespace internal {
template <>
inline constexpr bool kStaticTree<ScaleArg> = true;
}  // namespace internal

}  // namespace spruce::nn

namespace spruce {

/// Static in a tree: layers that hold one can stand in a model.
template <>
struct TreeTraits<nn::ScaleArg> {
  static constexpr bool kDefined = true;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(std::string_view("values"), self.values_);
  }
};

}  // namespace spruce
