// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the function of tree::at returns a reference to a part of the tree: write `->
// auto&`, as in `[](auto& m) -> auto& { return m.out.weight; }`
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;
using spruce::Array;

struct Net {
  nn::Linear hidden, out;
};
Net f(const Net& net) {
  return sp::tree::at(net, [](auto& m) { return m.out.weight; }).apply([](const Array& a) {
    return a * 2.0f;
  });
}
