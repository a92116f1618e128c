// SPDX-License-Identifier: Apache-2.0
// expect: spruce: norm(x, 1) is the order 1 in NumPy, and axis 1 in other reductions; write norm(x,
// {.ord = 1}) or norm(x, {.axis = 1})
#include <spruce/spruce.h>

spruce::Array order_or_axis(const spruce::Array& x) { return spruce::norm(x, 1); }
