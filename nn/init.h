// SPDX-License-Identifier: Apache-2.0
// Initial values of parameters.
#pragma once

#include "spruce/core/random/random.h"

namespace spruce::nn::init {

/// Uniform in +-1/sqrt(fan_in): PyTorch's default for linear layers and convolutions. Zeros for
/// fan_in = 0.
Array uniform_fan_in(const Key& key, const Shape& shape, int64_t fan_in, Dtype dtype = float32,
                     Loc loc = Loc::current());
/// Normal with deviation sqrt(2 / fan_in), for layers followed by relu (He et al. 2015). Shape
/// f[out, in, ...].
Array he_normal(const Key& key, const Shape& shape, Dtype dtype = float32,
                Loc loc = Loc::current());
/// Uniform with the variance of he_normal.
Array he_uniform(const Key& key, const Shape& shape, Dtype dtype = float32,
                 Loc loc = Loc::current());
/// Normal with deviation sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010). Shape f[out, in,
/// ...].
Array glorot_normal(const Key& key, const Shape& shape, Dtype dtype = float32,
                    Loc loc = Loc::current());
/// Uniform with the variance of glorot_normal.
Array glorot_uniform(const Key& key, const Shape& shape, Dtype dtype = float32,
                     Loc loc = Loc::current());

}  // namespace spruce::nn::init
