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
/// Keys of that batch shape, for samples.
SampleInput key_sample(const Shape& batch);

}  // namespace spruce::rules
