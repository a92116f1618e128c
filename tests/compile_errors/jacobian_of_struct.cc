// SPDX-License-Identifier: Apache-2.0
// expect: f of tree::ravel(x).flat
#include <spruce/spruce.h>

struct Point {
  spruce::Array x, y;
};
struct Polar {
  spruce::Array r, angle;
};
Polar polar(const Point& p) { return {spruce::hypot(p.x, p.y), spruce::atan2(p.y, p.x)}; }

auto slope(const Point& p) { return spruce::jacrev(polar)(p); }
