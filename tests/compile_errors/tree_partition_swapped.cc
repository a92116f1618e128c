// SPDX-License-Identifier: Apache-2.0
// expect: spruce: tree::partition(predicate, tree) takes the predicate first, which takes a `const
// std::string&` (the path) and a `const Array&` and returns a bool
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;
using spruce::Array;

struct Net {
  nn::Linear hidden, out;
};
auto f(const Net& net) {
  return sp::tree::partition(net, [](const std::string&, const Array& a) { return a.rank() > 1; });
}
