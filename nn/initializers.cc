// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/initializers.h"

#include <cmath>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/orthonormal.h"

namespace spruce::nn::init {
namespace {

using spruce::internal::check_range, spruce::internal::Range;

void check_rank(const char* name, const Shape& shape, int low, int high) {
  if (shape.rank() >= low && shape.rank() <= high) return;
  const std::string range = low == high   ? "rank " + std::to_string(low)
                            : high > 1000 ? "rank " + std::to_string(low) + " or more"
                                          : "rank 3 to 5, [out, in, window...]";
  throw ShapeError(std::string(name) + ": the initialiser " + name + " needs a shape of " + range +
                   ", got " + to_string(shape));
}
constexpr int kAnyRank = 10000;

// The variance 1 / fan.
double inverse_fan(const char* name, const Shape& shape, FanMode mode, int in_axis, int out_axis) {
  check_rank(name, shape, 2, kAnyRank);
  const auto size = [&](int axis) {
    const int at = axis < 0 ? axis + shape.rank() : axis;
    if (at < 0 || at >= shape.rank()) {
      throw ShapeError(std::string(name) + ": axis " + std::to_string(axis) +
                       " is not in the shape " + to_string(shape));
    }
    return static_cast<double>(shape[at]);
  };
  const double in = size(in_axis), out = size(out_axis);
  double window = 1;
  for (const int64_t n : shape) window *= static_cast<double>(n);
  if (window == 0) return 0;
  window /= in * out;
  const double fan = mode == FanMode::kFanIn    ? in * window
                     : mode == FanMode::kFanOut ? out * window
                                                : (in + out) * window / 2;
  return 1 / fan;
}

Array random_of(const Key& key, const Shape& shape, Dtype dtype, double variance,
                Distribution distribution) {
  const double deviation = std::sqrt(variance);
  if (distribution == Distribution::kUniform) {
    return random::uniform(key, shape, {.low = -1, .dtype = dtype}) * (std::sqrt(3.0) * deviation);
  }
  if (distribution == Distribution::kNormal)
    return random::normal(key, shape, {.dtype = dtype}) * deviation;
  // The standard deviation of what is left of a standard normal between -2 and 2.
  constexpr double kLeft = 0.87962566103423978;
  return random::truncated_normal(key, -2, 2, shape, {.dtype = dtype}) * (deviation / kLeft);
}

// Numbers with variance gain^2 / fan.
Initializer scaled(const char* name, double gain, FanMode mode, Distribution distribution) {
  check_range(name, "gain", gain, Range::kFinite);
  return [=](const Key& key, const Shape& shape, Dtype dtype) {
    return random_of(key, shape, dtype, gain * gain * inverse_fan(name, shape, mode, 1, 0),
                     distribution);
  };
}

Array orthogonal_of(const Key& key, const Shape& shape, Dtype dtype, double gain) {
  const spruce::internal::SameDevice here(key.data());
  const int64_t rows = shape[0];
  int64_t columns = 1;
  for (int i = 1; i < shape.rank(); ++i) columns *= shape[i];
  if (rows * columns == 0) return spruce::zeros(shape, dtype);
  const bool half = dtype == float16 || dtype == bfloat16;
  const Array q = nn::internal::orthonormal_columns(random::normal(
      key, {std::max(rows, columns), std::min(rows, columns)}, {.dtype = half ? float32 : dtype}));
  return astype(reshape(columns >= rows ? transpose(q) : q, shape) * gain, dtype);
}

// `x` f[out, in] at one place of a window of zeros: the middle, or left of it where the size is
// even and `left` is set.
Array at_the_middle(const Array& x, const Shape& shape, bool left) {
  const spruce::internal::SameDevice here(x);
  int64_t window = 1, place = 0;
  for (int i = 2; i < shape.rank(); ++i) {
    window *= shape[i];
    place = place * shape[i] + (left ? shape[i] - 1 : shape[i]) / 2;
  }
  const Array out = spruce::zeros({shape[0], shape[1], window}, x.dtype());
  return reshape(window == 0 ? out : out.at(slice(), slice(), place).set(x), shape);
}

}  // namespace

Initializer constant(double value) {
  return
      [=](const Key&, const Shape& shape, Dtype dtype) { return full(shape, Array(value), dtype); };
}
Initializer zeros() { return constant(0); }
Initializer ones() { return constant(1); }

Initializer uniform(const UniformOptions& o) {
  return [=](const Key& key, const Shape& shape, Dtype dtype) {
    return random::uniform(key, shape, {.low = o.low, .high = o.high, .dtype = dtype});
  };
}

Initializer normal(const NormalOptions& o) {
  check_range("normal", "mean", o.mean, Range::kFinite);
  check_range("normal", "std", o.std, Range::kNotNegative);
  return [=](const Key& key, const Shape& shape, Dtype dtype) {
    return random::normal(key, shape, {.dtype = dtype}) * o.std + o.mean;
  };
}

Initializer trunc_normal(const TruncNormalOptions& o) {
  check_range("trunc_normal", "mean", o.mean, Range::kFinite);
  check_range("trunc_normal", "std", o.std, Range::kPositive);
  return [=](const Key& key, const Shape& shape, Dtype dtype) {
    const OpScope at("trunc_normal");
    const double low = (o.a - o.mean) / o.std, high = (o.b - o.mean) / o.std;
    const Dtype wide = is_half(dtype) ? float32 : dtype;
    const Array drawn = random::truncated_normal(key, low, high, shape, {.dtype = wide});
    return astype(drawn * o.std + o.mean, dtype);
  };
}

Initializer eye() {
  return [](const Key&, const Shape& shape, Dtype dtype) {
    check_rank("eye", shape, 2, 2);
    return spruce::eye(shape[0], {.columns = shape[1], .dtype = dtype});
  };
}

Initializer dirac(const DiracOptions& o) {
  return [=](const Key&, const Shape& shape, Dtype dtype) {
    check_rank("dirac", shape, 3, 5);
    if (o.groups < 1 || shape[0] % o.groups != 0) {
      throw ShapeError("dirac: groups is " + std::to_string(o.groups) +
                       ", it must divide the first size of " + to_string(shape));
    }
    const Array one = spruce::eye(shape[0] / o.groups, {.columns = shape[1], .dtype = dtype});
    return at_the_middle(tile(one, {o.groups, 1}), shape, false);
  };
}

Initializer sparse(const SparseOptions& o) {
  check_range("sparse", "sparsity", o.sparsity, Range::kShare);
  check_range("sparse", "std", o.std, Range::kNotNegative);
  return [=](const Key& key, const Shape& shape, Dtype dtype) {
    check_rank("sparse", shape, 2, 2);
    const auto [k_values, k_places] = random::split<2>(key);
    const auto zeros = static_cast<int64_t>(std::ceil(o.sparsity * static_cast<double>(shape[0])));
    const Array order = argsort(random::bits(k_places, shape), 0);
    const Array values = random::normal(k_values, shape, {.dtype = dtype}) * o.std;
    return where(less(argsort(order, 0), zeros), spruce::zeros({}, dtype), values);
  };
}

Initializer orthogonal(const OrthogonalOptions& o) {
  check_range("orthogonal", "gain", o.gain, Range::kFinite);
  return [=](const Key& key, const Shape& shape, Dtype dtype) {
    check_rank("orthogonal", shape, 2, kAnyRank);
    return orthogonal_of(key, shape, dtype, o.gain);
  };
}

Initializer delta_orthogonal(const OrthogonalOptions& o) {
  check_range("delta_orthogonal", "gain", o.gain, Range::kFinite);
  return [=](const Key& key, const Shape& shape, Dtype dtype) {
    check_rank("delta_orthogonal", shape, 3, 5);
    if (shape[1] > shape[0]) {
      throw ShapeError("delta_orthogonal: takes at most as many inputs as outputs, got shape " +
                       to_string(shape));
    }
    return at_the_middle(orthogonal_of(key, {shape[0], shape[1]}, dtype, o.gain), shape, true);
  };
}

Initializer variance_scaling(const VarianceScalingOptions& o) {
  check_range("variance_scaling", "scale", o.scale, Range::kPositive);
  return [=](const Key& key, const Shape& shape, Dtype dtype) {
    const double variance =
        o.scale * inverse_fan("variance_scaling", shape, o.mode, o.in_axis, o.out_axis);
    return random_of(key, shape, dtype, variance, o.distribution);
  };
}

Initializer lecun_normal() {
  return scaled("lecun_normal", 1, FanMode::kFanIn, Distribution::kTruncatedNormal);
}
Initializer lecun_uniform() {
  return scaled("lecun_uniform", 1, FanMode::kFanIn, Distribution::kUniform);
}
Initializer xavier_uniform(const XavierOptions& o) {
  return scaled("xavier_uniform", o.gain, FanMode::kFanAvg, Distribution::kUniform);
}
Initializer xavier_normal(const XavierOptions& o) {
  return scaled("xavier_normal", o.gain, FanMode::kFanAvg, Distribution::kNormal);
}

double calculate_gain(GainOf nonlinearity, double a) {
  switch (nonlinearity) {
    case GainOf::kLinear:
      return 1;
    case GainOf::kTanh:
      return 5.0 / 3;
    case GainOf::kRelu:
      return std::sqrt(2.0);
    case GainOf::kLeakyRelu:
      return std::sqrt(2 / (1 + a * a));
    case GainOf::kSelu:
      return 0.75;
  }
  return 1;
}

Initializer kaiming_uniform(const KaimingOptions& o) {
  return scaled("kaiming_uniform", calculate_gain(o.nonlinearity, o.a), o.mode,
                Distribution::kUniform);
}
Initializer kaiming_normal(const KaimingOptions& o) {
  return scaled("kaiming_normal", calculate_gain(o.nonlinearity, o.a), o.mode,
                Distribution::kNormal);
}

const LayerInit flax_v1{.weight = lecun_normal(), .bias = zeros(), .name = "flax_v1"};
const LayerInit keras_v1{.weight = xavier_uniform(), .bias = zeros(), .name = "keras_v1"};

}  // namespace spruce::nn::init
