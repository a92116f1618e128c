// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the axes stand in braces: transpose(x, {1, 0}); two are exchanged by swapaxes(x,
// 0, 1)
#include <spruce/spruce.h>

spruce::Array transposed(const spruce::Array& x) { return spruce::transpose(x, 1, 0); }
