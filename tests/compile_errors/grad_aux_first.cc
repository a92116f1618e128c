// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a function to be differentiated returns an Array, or a pair or tuple whose first
// element is that Array
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;

struct Net {
  nn::Linear hidden, out;
};
auto f(const Net& n) {
  return sp::grad([](const Net& v) { return std::pair{v, sp::sum(v.out.weight)}; })(n);
}
