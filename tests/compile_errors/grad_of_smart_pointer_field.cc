// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a tree holds no pointers; hold the value itself, in std::optional if it may be
// missing
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;

struct Net {
  std::unique_ptr<nn::Linear> hidden;
  nn::Linear out;
};
auto f(const Net& n) {
  return sp::grad([](const Net& v) { return sp::sum(v.out.weight); })(n);
}
