// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++17
// expect: Spruce needs C++20: compile with -std=c++20
#include <spruce/spruce.h>

spruce::Array twice(const spruce::Array& x) { return 2.0f * x; }
