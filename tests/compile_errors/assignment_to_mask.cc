// SPDX-License-Identifier: Apache-2.0
// expect: an_array_is_immutable_use_x_at_set
#include <spruce/spruce.h>

void zero_the_positive(spruce::Array& x) { x[x > 0] = 0.0f; }
