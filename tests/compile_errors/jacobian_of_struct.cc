// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the Jacobian of a struct with respect to a tree has no C++ type; return an Array
// or a container of arrays, or differentiate with respect to one Array: f of tree::ravel(x).flat
// lines: 30 by clang, which names each step from the outer function to the inner one
#include <spruce/spruce.h>

struct Point {
  spruce::Array x, y;
};
struct Polar {
  spruce::Array r, angle;
};
Polar polar(const Point& p) { return {spruce::hypot(p.x, p.y), spruce::atan2(p.y, p.x)}; }

auto slope(const Point& p) { return spruce::jacrev(polar)(p); }
