// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a class with virtual functions is no tree; of an nn::Module take the parameters
// and the function of them that nn::functionalize gives
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

class Net : public sp::nn::Module {
 public:
  Array forward(const Array& x) override { return x; }
};
auto f(const Net& net) { return sp::tree::ravel(net); }
