// SPDX-License-Identifier: Apache-2.0
// Quantiles, histograms, covariances and interpolation, with the names and defaults of jax.numpy.
// Integers and bool are converted to f32; f16 and bf16 are computed in f32. All are compositions of
// other operations, and have the derivatives of these.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"
#include "spruce/core/ops/reduce.h"

namespace spruce {

/// Options of quantile, percentile, nanquantile and nanpercentile.
struct QuantileOptions {
  /// What stands between two elements: "linear", "lower", "higher", "midpoint" or "nearest";
  /// ValueError for others.
  std::string_view method = "linear";
  bool keepdims = false;  ///< keep the reduced axes with size 1
};
/// quantile and its kin.
class QuantileFunction {
 public:
  /// `name`, for messages; q runs from 0 to `whole`; whether NaN is left out.
  constexpr QuantileFunction(const char* name, double whole, bool skips_nan)
      : name_(name), whole_(whole), skips_nan_(skips_nan) {}
  Array operator()(const Array& x, const Array& q, const AxisArg& axes = none,
                   const QuantileOptions& options = {}, Loc loc = Loc::current()) const;

 private:
  const char* name_;
  double whole_;
  bool skips_nan_;
};
/// The element below which the share q of all elements over the axes stands, 0 <= q <= 1: with
/// q = 0.5 the median. The axes of q come first: q [p], x [m, n], axis 1 -> f[p, m]. NaN where
/// there is one. A known q outside of its range is a ValueError, no elements are a ShapeError.
/// Grad: g to the elements on both sides.
inline constexpr QuantileFunction quantile{"quantile", 1, false};
/// quantile(x, q / 100).
inline constexpr QuantileFunction percentile{"percentile", 100, false};
/// The same of the elements that are not NaN; NaN where there are none.
inline constexpr QuantileFunction nanquantile{"nanquantile", 1, true};
/// nanquantile(x, q / 100).
inline constexpr QuantileFunction nanpercentile{"nanpercentile", 100, true};
/// nanquantile(x, 0.5).
inline constexpr struct NanmedianFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} nanmedian{};
/// The variance of the elements that are not NaN; NaN where there are no more than ddof.
inline constexpr struct NanvarFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const VarOptions& options = {},
                   Loc loc = Loc::current()) const;
} nanvar{};
/// The root of nanvar.
inline constexpr struct NanstdFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const VarOptions& options = {},
                   Loc loc = Loc::current()) const;
} nanstd{};

/// Options of cov and corrcoef.
struct CovOptions {
  bool rowvar = true;  ///< rows are variables and columns observations; else the other way round
  int64_t ddof = 1;    ///< of cov: sums are divided by the number of observations less this
};
/// The covariances of variables: f[m, n] -> f[m, m]; of one, f[n] -> f[]. Throws ShapeError for
/// other ranks.
inline constexpr struct CovFunction {
  Array operator()(const Array& x, const CovOptions& options = {}, Loc loc = Loc::current()) const;
} cov{};
/// The coefficients of correlation, from -1 to 1, shapes as in cov. NaN for a variable that is
/// constant.
inline constexpr struct CorrcoefFunction {
  Array operator()(const Array& x, const CovOptions& options = {}, Loc loc = Loc::current()) const;
} corrcoef{};

/// Options of histogram.
struct HistogramOptions {
  std::optional<std::pair<double, double>> range{};  ///< none: from the smallest to the largest
  Array weights{};       ///< one for each element, of the shape of x; undefined: 1 each
  bool density = false;  ///< divided so that the integral over the range is 1
};
/// What histogram gives.
struct Histogram {
  Array counts;  ///< f[bins]: how many elements, or their weights
  Array edges;   ///< f[bins + 1], rising
};
/// Counts of the elements, whatever the shape, in bins of equal width or between given edges,
/// f[bins
/// + 1]; the last bin has its upper edge, too. What is outside of them, and NaN, is left out.
/// Gradient of the counts: by the weights alone. Throws ValueError for fewer than 1 bin or a range
/// that does not rise, ShapeError for edges that are no vector of two or more.
inline constexpr struct HistogramFunction {
  Histogram operator()(const Array& x, int64_t bins = 10, const HistogramOptions& options = {},
                       Loc loc = Loc::current()) const;
  Histogram operator()(const Array& x, const Array& edges, const HistogramOptions& options = {},
                       Loc loc = Loc::current()) const;
} histogram{};
/// Options of digitize.
struct DigitizeOptions {
  bool right = false;  ///< bins have their upper edge, not their lower one
};
/// The bin of each element: how many of the edges, f[n], rising, are not above it. i32, or i64 for
/// many.
inline constexpr struct DigitizeFunction {
  Array operator()(const Array& x, const Array& edges, const DigitizeOptions& options = {},
                   Loc loc = Loc::current()) const;
} digitize{};

/// Options of interp.
struct InterpOptions {
  std::optional<double> left{};   ///< for x below xp[0]; none: fp[0]
  std::optional<double> right{};  ///< for x above the last xp; none: the last fp
};
/// Linear interpolation between the points (xp, fp), f[n] each, with rising xp: f[...] -> f[...].
/// Grad: of x, g times the slope there; of fp, g to both ends. Throws ShapeError unless xp and fp
/// are vectors of one size, 1 or more.
inline constexpr struct InterpFunction {
  Array operator()(const Array& x, const Array& xp, const Array& fp,
                   const InterpOptions& options = {}, Loc loc = Loc::current()) const;
} interp{};

/// Options of convolve and correlate.
struct ConvolveOptions {
  /// "full": all places where they overlap; "same": as many as the longer one has, around the
  /// middle; "valid": where they overlap wholly. ValueError for others.
  std::string_view mode = "";
};
/// The convolution of two vectors: f[m], f[n] -> f[m + n - 1]; without a mode it is "full". Throws
/// ShapeError for other ranks and for no elements.
inline constexpr struct ConvolveFunction {
  Array operator()(const Array& a, const Array& v, const ConvolveOptions& options = {},
                   Loc loc = Loc::current()) const;
} convolve{};
/// The convolution with v read backwards; without a mode it is "valid".
inline constexpr struct CorrelateFunction {
  Array operator()(const Array& a, const Array& v, const ConvolveOptions& options = {},
                   Loc loc = Loc::current()) const;
} correlate{};

/// Options of trapezoid.
struct TrapezoidOptions {
  Array x{};       ///< where the values stand, f[n] or of the shape of y; undefined: `dx` apart
  double dx = 1;   ///< their distance
  Axis axis = -1;  ///< along which is integrated
};
/// The integral by trapezoids over one axis.
inline constexpr struct TrapezoidFunction {
  Array operator()(const Array& y, const TrapezoidOptions& options = {},
                   Loc loc = Loc::current()) const;
} trapezoid{};

/// Whether each element of x is one of `values`, of whatever shape: bool of the shape of x. NaN is
/// none of them.
inline constexpr struct IsinFunction {
  Array operator()(const Array& x, const Array& values, Loc loc = Loc::current()) const;
} isin{};

}  // namespace spruce
