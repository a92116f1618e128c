// SPDX-License-Identifier: Apache-2.0
// Rules of primitives whose input 0 is the data of random keys, u32[...,2]. The axes before the
// last are a batch: each key gives what it gives alone, so vmap only hands the batch on.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::rules {

/// The batch shape of the keys. Throws DtypeError and ShapeError unless they are u32[...,2].
Shape key_batch(const ShapeArgs& a);
/// vmap where the keys are all inputs.
void batch_keys(const BatchArgs& a);
/// Throws unless as many inputs as there are parameters stand after the keys, floating and with
/// shapes that begin with that of the keys: each key makes the rest of the shape.
void check_draws(const ShapeArgs& a, size_t parameters);
/// vmap for such inputs.
void batch_draws(const BatchArgs& a);
/// Keys of that batch shape, for samples.
SampleInput key_sample(const Shape& batch);

}  // namespace spruce::rules
