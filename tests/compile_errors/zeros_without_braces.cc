// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a shape stands in braces: zeros({3, 4}), zeros({3}), x.reshape({2, -1})
#include <spruce/spruce.h>

spruce::Array zeros() { return spruce::zeros(3); }
