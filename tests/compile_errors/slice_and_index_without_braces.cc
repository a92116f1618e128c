// SPDX-License-Identifier: Apache-2.0
// expect: spruce: several indices stand in braces: x[{slice(), 0}], x[{ellipsis, 1}]
#include <spruce/spruce.h>

spruce::Array column(const spruce::Array& x) { return x[spruce::slice(), 0]; }
