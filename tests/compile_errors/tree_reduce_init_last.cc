// SPDX-License-Identifier: Apache-2.0
// expect: spruce: tree::reduce(f, init, tree) is init = f(init, leaf) for each leaf: f takes the
// type of init and a `const Array&`, and returns the type of init
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;
using spruce::Array;

struct Net {
  nn::Linear hidden, out;
};
auto f(const Net& net) {
  return sp::tree::reduce([](Array s, const Array& a) { return s + sp::sum(a); }, net, Array(0.0f));
}
