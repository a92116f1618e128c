// SPDX-License-Identifier: Apache-2.0
// expect: an_array_is_immutable_use_x_at_subtract
#include <spruce/spruce.h>

void subtract_from_the_first(spruce::Array& x) { x[0] -= 1; }
