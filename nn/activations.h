// SPDX-License-Identifier: Apache-2.0
// Activations, as function objects that can be called and passed by name. Names, parameters and
// defaults are PyTorch's.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "spruce/core/axis_arg.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/unary.h"

namespace spruce::nn {

/// A function of one array without options: relu(x), or relu passed to sequential.
struct Activation {
  Array (*f)(const Array&);  ///< what it computes
  /// f(x): f[...] -> f[...], of the same shape.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return f(x);
  }
};

namespace internal {
Array relu(const Array& x);
Array relu6(const Array& x);
Array silu(const Array& x);
Array mish(const Array& x);
Array selu(const Array& x);
Array hardsigmoid(const Array& x);
Array hardswish(const Array& x);
Array softsign(const Array& x);
Array logsigmoid(const Array& x);
Array log_sigmoid(const Array& x);
Array tanhshrink(const Array& x);
}  // namespace internal

/// max(x, 0). Grad: g where x > 0, 0 elsewhere (at 0 too).
inline constexpr Activation relu{internal::relu};
/// min(max(x, 0), 6). Grad: 0 at the edges.
inline constexpr Activation relu6{internal::relu6};
/// 1 / (1 + e^-x); the same function as in spruce.
using spruce::sigmoid;
/// The hyperbolic tangent; the same function as in spruce.
using spruce::tanh;
/// x sigmoid(x) (Elfwing et al. 2018).
inline constexpr Activation silu{internal::silu};
/// x tanh(softplus(x)) (Misra 2019).
inline constexpr Activation mish{internal::mish};
/// scale * elu(x, alpha) with the constants of Klambauer et al. 2017.
inline constexpr Activation selu{internal::selu};
/// min(max(x + 3, 0), 6) / 6.
inline constexpr Activation hardsigmoid{internal::hardsigmoid};
/// x hardsigmoid(x) (Howard et al. 2019).
inline constexpr Activation hardswish{internal::hardswish};
/// x / (1 + |x|).
inline constexpr Activation softsign{internal::softsign};
/// log(sigmoid(x)), without overflow.
inline constexpr Activation logsigmoid{internal::logsigmoid};
/// logsigmoid under JAX's name.
inline constexpr Activation log_sigmoid{internal::log_sigmoid};
/// x - tanh(x).
inline constexpr Activation tanhshrink{internal::tanhshrink};

/// Which form of gelu.
enum class GeluApproximation {
  kNone,  ///< by erf
  kTanh   ///< by tanh
};
/// Options of gelu.
struct GeluOptions {
  /// What is printed of a layer with them: see describe().
  static constexpr std::string_view kExtraRepr = "approximate{none,tanh}";

  GeluApproximation approximate = GeluApproximation::kNone;  ///< by erf unless given
};
/// x Phi(x) with the normal distribution function, or its approximation by tanh (Hendrycks and
/// Gimpel 2016).
struct Gelu {
  /// gelu(x): of the shape of x; integers are converted to f32.
  Array operator()(const Array& x, const GeluOptions& options = {}, Loc loc = Loc::current()) const;
};
/// The function of type Gelu.
inline constexpr Gelu gelu{};

/// Options of elu and celu.
struct EluOptions {
  double alpha = 1.0;  ///< the limit far below 0 is -alpha; celu throws ValueError for 0
};
/// x where x > 0, alpha (e^x - 1) elsewhere (Clevert et al. 2016).
struct Elu {
  /// elu(x), by default with alpha = 1: of the shape of x; integers are converted to f32.
  Array operator()(const Array& x, const EluOptions& options = {}, Loc loc = Loc::current()) const;
};
/// The function of type Elu.
inline constexpr Elu elu{};
/// max(x, 0) + min(0, alpha (e^(x / alpha) - 1)) (Barron 2017).
struct Celu {
  /// celu(x), by default with alpha = 1: of the shape of x; integers are converted to f32.
  Array operator()(const Array& x, const EluOptions& options = {}, Loc loc = Loc::current()) const;
};
/// The function of type Celu.
inline constexpr Celu celu{};

/// Options of leaky_relu.
struct LeakyReluOptions {
  double negative_slope = 0.01;  ///< below 0
};
/// x where x > 0, negative_slope * x elsewhere. Grad at 0: negative_slope.
struct LeakyRelu {
  /// leaky_relu(x), by default with a slope of 0.01: of the shape of x.
  Array operator()(const Array& x, const LeakyReluOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type LeakyRelu.
inline constexpr LeakyRelu leaky_relu{};

/// Options of hardtanh.
struct HardtanhOptions {
  double min_val = -1.0;  ///< the smallest result
  double max_val = 1.0;   ///< the largest
};
/// min(max(x, min_val), max_val). Grad: 0 at the edges.
struct Hardtanh {
  /// hardtanh(x), by default between -1 and 1: of the shape of x. Throws ValueError for min_val
  /// above max_val.
  Array operator()(const Array& x, const HardtanhOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type Hardtanh.
inline constexpr Hardtanh hardtanh{};

/// Options of softplus.
struct SoftplusOptions {
  double beta = 1.0;        ///< the larger, the nearer to relu
  double threshold = 20.0;  ///< where beta x is above it, the result is x
};
/// log(1 + e^(beta x)) / beta. Throws ValueError unless beta is positive.
struct Softplus {
  /// softplus(x), by default with beta = 1: of the shape of x.
  Array operator()(const Array& x, const SoftplusOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type Softplus.
inline constexpr Softplus softplus{};

/// value where x <= threshold, x elsewhere (NaN stays); of the shape of x.
inline constexpr struct ThresholdFunction {
  Array operator()(const Array& x, double threshold, double value, Loc loc = Loc::current()) const;
} threshold{};
/// threshold as a layer without parameters.
struct Threshold {
  double threshold = 0;  ///< up to which x is replaced
  double value = 0;      ///< by this

  /// The result of threshold().
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("Threshold", loc);
    return nn::threshold(x, threshold, value);
  }
};

/// Options of hardshrink and softshrink.
struct ShrinkOptions {
  double lambd = 0.5;  ///< half the width of what becomes 0; not negative
};
/// x outside of [-lambd, lambd], 0 within.
struct Hardshrink {
  /// hardshrink(x), by default with lambd = 0.5: of the shape of x.
  Array operator()(const Array& x, const ShrinkOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type Hardshrink.
inline constexpr Hardshrink hardshrink{};
/// x moved toward 0 by lambd, 0 within [-lambd, lambd].
struct Softshrink {
  /// softshrink(x), by default with lambd = 0.5: of the shape of x.
  Array operator()(const Array& x, const ShrinkOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type Softshrink.
inline constexpr Softshrink softshrink{};

/// x itself, as a layer: where a part of a net is to be left out.
struct Identity {
  /// x.
  Array operator()(const Array& x, Loc = Loc::current()) const { return x; }
};

/// Options of softmax, log_softmax, softmin and glu.
struct SoftmaxOptions {
  Axis axis = -1;  ///< the axis that it goes along: that which sums to one, or is halved
  std::optional<Axis> dim = {};  ///< PyTorch's name of axis; give one of them
};
/// exp(x) / sum(exp(x)) along an axis, without overflow.
struct Softmax {
  /// softmax(x), by default along the last axis: of the shape of x. Throws ShapeError for an axis
  /// that is not there.
  Array operator()(const Array& x, const SoftmaxOptions& options = {},
                   Loc loc = Loc::current()) const;
  /// Along that axis.
  template <std::convertible_to<Axis> T>
  Array operator()(const Array& x, T axis, Loc loc = Loc::current()) const {
    return (*this)(x, SoftmaxOptions{axis}, loc);
  }
};
/// The function of type Softmax.
inline constexpr Softmax softmax{};
/// The logarithm of softmax, without loss of precision.
struct LogSoftmax {
  /// log_softmax(x), by default along the last axis: of the shape of x. Throws ShapeError for an
  /// axis that is not there.
  Array operator()(const Array& x, const SoftmaxOptions& options = {},
                   Loc loc = Loc::current()) const;
  /// Along that axis.
  template <std::convertible_to<Axis> T>
  Array operator()(const Array& x, T axis, Loc loc = Loc::current()) const {
    return (*this)(x, SoftmaxOptions{axis}, loc);
  }
};
/// The function of type LogSoftmax.
inline constexpr LogSoftmax log_softmax{};
/// softmax(-x).
struct Softmin {
  /// softmin(x), by default along the last axis: of the shape of x. Throws ShapeError for an axis
  /// that is not there.
  Array operator()(const Array& x, const SoftmaxOptions& options = {},
                   Loc loc = Loc::current()) const;
  /// Along that axis.
  template <std::convertible_to<Axis> T>
  Array operator()(const Array& x, T axis, Loc loc = Loc::current()) const {
    return (*this)(x, SoftmaxOptions{axis}, loc);
  }
};
/// The function of type Softmin.
inline constexpr Softmin softmin{};
/// a * sigmoid(b) for the halves a, b of x along an axis (Dauphin et al. 2017). Throws ShapeError
/// for an odd size.
struct Glu {
  /// glu(x), by default along the last axis, which comes out half as long.
  Array operator()(const Array& x, const SoftmaxOptions& options = {},
                   Loc loc = Loc::current()) const;
  /// Along that axis.
  template <std::convertible_to<Axis> T>
  Array operator()(const Array& x, T axis, Loc loc = Loc::current()) const {
    return (*this)(x, SoftmaxOptions{axis}, loc);
  }
};
/// The function of type Glu.
inline constexpr Glu glu{};

}  // namespace spruce::nn
