// SPDX-License-Identifier: Apache-2.0
// expect: spruce: random numbers come from a key: random::normal(Key(0), {3}); Key(seed) makes one
// of a number
#include <spruce/spruce.h>

spruce::Array noise() { return spruce::random::uniform(42, {3}, {.high = 2}); }
