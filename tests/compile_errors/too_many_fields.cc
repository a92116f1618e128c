// SPDX-License-Identifier: Apache-2.0
// expect: spruce: a struct in a tree has at most 32 fields; group some of them in a struct of their
// own
#include <spruce/spruce.h>

struct Row {
  spruce::Array a, b, c, d, e, f, g, h, i, j, k;
};
struct Wide : Row {};
struct TooWide {
  spruce::Array a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
  spruce::Array aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn, oo, pp;
  spruce::Array one_too_many;
};

size_t leaves(const Wide& x) { return spruce::tree::leaves(x).size(); }
size_t leaves(const TooWide& x) { return spruce::tree::leaves(x).size(); }
