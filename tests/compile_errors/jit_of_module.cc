// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a class with virtual functions is no tree; of an nn::Module take the parameters
// and the function of them that nn::functionalize gives
#include <spruce/spruce.h>

namespace sp = spruce;
namespace nn = spruce::nn;
using spruce::Array;

struct M : nn::Module {
  Array forward(const Array& x) override { return x; }
};
auto f(M& m, const Array& x) {
  return sp::jit([](const M& m, const Array& v) { return sp::sum(v); })(m, x);
}
