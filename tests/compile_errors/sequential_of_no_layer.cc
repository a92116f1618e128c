// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a part of sequential is a factory such as dense(8), or a layer or function; a
// Module has to be called by a lambda
#include <spruce/spruce.h>

spruce::Array result(const spruce::Key& key, const spruce::Array& x) {
  const auto net = spruce::nn::sequential(spruce::nn::dense(8), 5);
  return net(net.init(key, x))(x);
}
