// SPDX-License-Identifier: Apache-2.0
// expect: all in itself or all in one base class
#include <spruce/core/tree/tree.h>

struct Left {
  spruce::Array weight;
};
struct Right {
  spruce::Array bias;
};
struct Both : Left, Right {};

std::string text(const Both& x) { return spruce::tree::to_string(x); }
