// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree holds no pointers; hold the value itself, in std::optional if it may be
// missing
// lines: 35 by clang, which names each step from the outer function to the inner one
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;

struct Net {
  std::unique_ptr<nn::Linear> hidden;
  nn::Linear out;
};
auto f(const Net& n) { return sp::optim::adam({}).init(n); }
