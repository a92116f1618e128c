// SPDX-License-Identifier: Apache-2.0
// expect: spruce: tree::map(f, tree, ...) takes the function first, and f a `const Array&` from
// each tree; it returns an Array
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;
using spruce::Array;

struct Net {
  nn::Linear hidden, out;
};
auto f(const Net& net) {
  return sp::tree::map(net, net, [](const Array& a, const Array& b) { return a * b; });
}
