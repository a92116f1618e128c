// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a transform takes a function, as in grad(f)(x); this is a value: leave out a call
// such as the one in grad(f(x))
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) { return sp::jit(x); }
