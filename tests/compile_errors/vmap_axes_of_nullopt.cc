// SPDX-License-Identifier: Apache-2.0
// expect: spruce: an argument that is not mapped has spruce::none in its place: vmap(f, {.in_axes =
// {0, none}})
#include <spruce/spruce.h>

auto products(const spruce::Array& x, const spruce::Array& y) {
  return spruce::vmap(spruce::multiply, {.in_axes = {0, std::nullopt}})(x, y);
}
