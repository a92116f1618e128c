// SPDX-License-Identifier: Apache-2.0
// Initialisers with options: those of torch.nn.init and of jax.nn.initializers. Each function gives
// an Initializer, to be called or handed to a layer:
//
//   nn::init::orthogonal({.gain = 2})(key, {64, 128})
//   nn::Linear::init(key, 784, 10, {.init = {.weight = nn::init::trunc_normal({.std = 0.02})}})
//
// The fans of a shape f[out, in, window...] are in * window and out * window. Random streams are
// those of JAX. Initialisers are functions: PyTorch's trailing _ is not in their names.
#pragma once

#include "spruce/nn/initializer.h"

namespace spruce::nn::init {

/// All elements `value`. Shapes of any rank, as of the next five.
Initializer constant(double value);
/// All zeros.
Initializer zeros();
/// All ones.
Initializer ones();

/// Options of uniform.
struct UniformOptions {
  double low = 0;   ///< inclusive
  double high = 1;  ///< exclusive
};
/// Uniform in [low, high). Throws ValueError unless low <= high.
Initializer uniform(const UniformOptions& options = {});

/// Options of normal.
struct NormalOptions {
  double mean = 0;  ///< the mean
  double std = 1;   ///< the standard deviation
};
/// Normal. Throws ValueError for a negative std.
Initializer normal(const NormalOptions& options = {});

/// Options of trunc_normal.
struct TruncNormalOptions {
  double mean = 0;  ///< of the normal distribution that is cut
  double std = 1;   ///< its standard deviation
  double a = -2;    ///< the smallest number
  double b = 2;     ///< the largest one
};
/// Normal, given that the number is within a..b, as torch.nn.init.trunc_normal_. JAX's
/// truncated_normal(std, lower, upper) is trunc_normal with a = lower std and b = upper std. Throws
/// ValueError unless a < b and std is positive.
Initializer trunc_normal(const TruncNormalOptions& options = {});

/// The unit matrix, for f[n, m]; ShapeError for other ranks.
Initializer eye();

/// Options of dirac.
struct DiracOptions {
  int64_t groups = 1;  ///< of the convolution
};
/// The convolution that keeps as many channels as it can: one at the middle of the window for
/// channel i of input and output, of each group. Throws ShapeError unless the rank is 3 to 5 and
/// groups divides the first size.
Initializer dirac(const DiracOptions& options = {});

/// Options of sparse.
struct SparseOptions {
  double sparsity = 0.1;  ///< share of zeros in each column
  double std = 0.01;      ///< standard deviation of the others
};
/// A matrix f[n, m] of normal numbers, of which in each column ceil(sparsity n) are zero (Martens
/// 2010). Throws ShapeError for other ranks, ValueError for a sparsity outside of 0..1.
Initializer sparse(const SparseOptions& options = {});

/// Options of orthogonal and delta_orthogonal.
struct OrthogonalOptions {
  double gain = 1;  ///< factor of the result
};
/// A random orthogonal matrix times gain: the rows of f[out, in * ...] are orthonormal, or the
/// columns, whichever are fewer (Saxe, McClelland and Ganguli 2014). Throws ShapeError for a rank
/// below 2.
Initializer orthogonal(const OrthogonalOptions& options = {});
/// orthogonal() at the middle of the window of a convolution f[out, in, window...], zeros elsewhere
/// (Xiao et al. 2018). Throws ShapeError unless the rank is 3 to 5 and in is at most out.
Initializer delta_orthogonal(const OrthogonalOptions& options = {});

/// Which number of connections a variance is scaled by.
enum class FanMode : uint8_t {
  kFanIn,   ///< those into an output: the variance of what goes forward is kept
  kFanOut,  ///< those out of an input: the variance of gradients is kept
  kFanAvg   ///< their mean
};
/// How random numbers are distributed.
enum class Distribution : uint8_t {
  kTruncatedNormal,  ///< normal, cut at two standard deviations
  kNormal,           ///< normal
  kUniform           ///< uniform
};

/// Options of variance_scaling.
struct VarianceScalingOptions {
  double scale = 1;                                            ///< the variance times the fan
  FanMode mode = FanMode::kFanIn;                              ///< which fan
  Distribution distribution = Distribution::kTruncatedNormal;  ///< see Distribution
  int in_axis = 1;   ///< the axis of the inputs; negative ones count from the end
  int out_axis = 0;  ///< the axis of the outputs; all others are the window
};
/// Numbers with mean 0 and variance scale / fan, as jax.nn.initializers.variance_scaling, whose
/// axes are the other way round by default: in_axis -2, out_axis -1. Throws ShapeError for a rank
/// below 2, ValueError for a scale that is not positive.
Initializer variance_scaling(const VarianceScalingOptions& options = {});
/// variance_scaling() with its defaults: 1 / fan-in, truncated normal (LeCun et al. 1998).
Initializer lecun_normal();
/// The same, uniform.
Initializer lecun_uniform();

/// Options of xavier_uniform and xavier_normal.
struct XavierOptions {
  double gain = 1;  ///< factor of the standard deviation
};
/// Uniform with variance gain^2 / mean of the fans (Glorot and Bengio 2010); glorot_uniform with a
/// gain.
Initializer xavier_uniform(const XavierOptions& options = {});
/// The same, normal.
Initializer xavier_normal(const XavierOptions& options = {});

/// What follows a layer, for calculate_gain and kaiming_uniform.
enum class GainOf : uint8_t {
  kLinear,     ///< nothing, a convolution or a sigmoid: 1
  kTanh,       ///< tanh: 5 / 3
  kRelu,       ///< relu: sqrt(2)
  kLeakyRelu,  ///< leaky_relu with slope a: sqrt(2 / (1 + a^2))
  kSelu        ///< selu: 3 / 4
};
/// The factor of the deviation that keeps variances; `a` is the slope of kLeakyRelu, whose default
/// is PyTorch's.
double calculate_gain(GainOf nonlinearity, double a = 0.01);

/// Options of kaiming_uniform and kaiming_normal.
struct KaimingOptions {
  double a = 0;                              ///< the slope of kLeakyRelu
  FanMode mode = FanMode::kFanIn;            ///< which fan
  GainOf nonlinearity = GainOf::kLeakyRelu;  ///< what follows
};
/// Uniform with variance gain^2 / fan (He et al. 2015).
Initializer kaiming_uniform(const KaimingOptions& options = {});
/// The same, normal.
Initializer kaiming_normal(const KaimingOptions& options = {});

/// What every layer does where nothing else is asked for: PyTorch's defaults.
inline const LayerInit torch_v1{.weight = {}, .bias = {}, .name = "torch_v1"};
/// What Flax's Dense and Conv do: lecun_normal(), and zeros for biases.
extern const LayerInit flax_v1;
/// What Keras's Dense and Conv do: xavier_uniform(), and zeros for biases.
extern const LayerInit keras_v1;

}  // namespace spruce::nn::init
