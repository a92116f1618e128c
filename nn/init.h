// SPDX-License-Identifier: Apache-2.0
// Initial values of parameters.
#pragma once

#include "spruce/core/random/random.h"

namespace spruce::nn::init {

/// Uniform in +-1/sqrt(fan_in): PyTorch's default for linear layers and convolutions. Zeros for
/// fan_in = 0.
inline constexpr struct UniformFanInFunction {
  Array operator()(const Key& key, const Shape& shape, int64_t fan_in, Dtype dtype = float32,
                   Loc loc = Loc::current()) const;
} uniform_fan_in{};
/// Normal with deviation sqrt(2 / fan_in), for layers followed by relu (He et al. 2015). Shape
/// f[out, in, ...].
inline constexpr struct HeNormalFunction {
  Array operator()(const Key& key, const Shape& shape, Dtype dtype = float32,
                   Loc loc = Loc::current()) const;
} he_normal{};
/// Uniform with the variance of he_normal.
inline constexpr struct HeUniformFunction {
  Array operator()(const Key& key, const Shape& shape, Dtype dtype = float32,
                   Loc loc = Loc::current()) const;
} he_uniform{};
/// Normal with deviation sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010). Shape f[out, in,
/// ...].
inline constexpr struct GlorotNormalFunction {
  Array operator()(const Key& key, const Shape& shape, Dtype dtype = float32,
                   Loc loc = Loc::current()) const;
} glorot_normal{};
/// Uniform with the variance of glorot_normal.
inline constexpr struct GlorotUniformFunction {
  Array operator()(const Key& key, const Shape& shape, Dtype dtype = float32,
                   Loc loc = Loc::current()) const;
} glorot_uniform{};

}  // namespace spruce::nn::init
