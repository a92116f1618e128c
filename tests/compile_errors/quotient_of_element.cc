// SPDX-License-Identifier: Apache-2.0
// expect: an_array_is_immutable_use_x_at_divide
#include <spruce/spruce.h>

void halve_the_first(spruce::Array& x) { x[0] /= 2.0f; }
