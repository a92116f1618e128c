// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a batch of keys is no range; its keys are keys[i] for i below keys.shape()[0], or
// map a function over them with vmap
#include <spruce/spruce.h>

std::vector<spruce::Array> normals(const spruce::Key& key) {
  std::vector<spruce::Array> out;
  for (const auto& k : spruce::random::split(key, 4)) out.push_back(spruce::random::normal(k, {2}));
  return out;
}
