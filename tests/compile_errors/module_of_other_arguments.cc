// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the forward of this ModuleOf does not take the arguments that the module is
// called with; it is a public member function, and takes them by value or const reference
#include <spruce/spruce.h>

struct Net : spruce::nn::ModuleOf<Net> {
  spruce::Array forward(const spruce::Array& x, const spruce::Array& y) { return x + y; }
};

auto call(Net& net, const spruce::Array& x) { return net(x); }
