// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the function returns nothing; functions here have no effects, and return their
// result: an Array or a tree of arrays
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f = sp::elementwise([](const Array& x) { sp::exp(x); })(sp::ones({2}));
