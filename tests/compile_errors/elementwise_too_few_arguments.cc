// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the function takes more or fewer arguments than it is called with here
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f = sp::elementwise([](const Array& x, const Array& y) { return x * y; })(sp::ones({2}));
