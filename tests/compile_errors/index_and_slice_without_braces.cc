// SPDX-License-Identifier: Apache-2.0
// expect: spruce: several indices stand in braces: x[{slice(), 0}], x[{ellipsis, 1}]
#include <spruce/spruce.h>

spruce::Array row(const spruce::Array& x) { return x[0, spruce::slice(1, 3)]; }
