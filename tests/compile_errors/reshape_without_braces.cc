// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a shape stands in braces: zeros({3, 4}), zeros({3}), x.reshape({2, -1})
#include <spruce/spruce.h>

spruce::Array matrix(const spruce::Array& x) { return spruce::reshape(x, 3, -1); }
