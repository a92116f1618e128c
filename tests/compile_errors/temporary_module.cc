// SPDX-License-Identifier: Apache-2.0
// expect: spruce: functionalize refers to the module, which would end with this statement; give the
// module a name, or hand over a std::shared_ptr to it
#include <spruce/spruce.h>

struct Net : spruce::nn::Module {
  spruce::Array forward(const spruce::Array& x) override { return x; }
};

spruce::NamedArrays parameters() { return spruce::nn::functionalize(Net()).params; }
