// SPDX-License-Identifier: Apache-2.0
// expect: spruce: tree::map_with_path(f, tree) takes the function first, and f a `const
// std::string&` and a `const Array&`; it returns an Array
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;
using spruce::Array;

struct Net {
  nn::Linear hidden, out;
};
auto f(const Net& net) {
  return sp::tree::map_with_path(net, [](const std::string&, const Array& a) { return a; });
}
