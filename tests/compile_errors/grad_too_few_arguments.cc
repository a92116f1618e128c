// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the function takes more or fewer arguments than it is called with here
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;
using spruce::Array;

struct Net {
  nn::Linear hidden, out;
};
Array loss(const Net&, const Array&, const Array&);
auto f(const Net& net, const Array& x) { return sp::grad(loss)(net, x); }
