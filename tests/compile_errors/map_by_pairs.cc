// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the keys of a std::map in a tree are strings, numbers or enums
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto leaves(const std::map<std::pair<int, int>, Array>& x) { return sp::tree::leaves(x); }
