// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/random_programs/generator.h"

namespace spruce::random_programs {
namespace {

// How often a window of that width fits.
int64_t positions(int64_t room, int64_t width, int64_t stride) {
  return room < width ? 0 : (room - width) / stride + 1;
}

}  // namespace

void Generator::convolve(int x) {
  // As [N, C, ...] with one or two axes behind.
  Shape s = at(x).shape;
  if (s.numel() == 0 || s.rank() == 0 || s.rank() > 4) return;
  while (s.rank() < 3) s.insert(static_cast<int>(draw(0, s.rank())), 1);
  if (s != at(x).shape) x = add(node(Op::kReshape, {x}, s), bound(x));
  Node n = node(Op::kConv, {}, {});
  const int64_t groups = draw(0, 2) == 0 ? s[1] : 1, each = draw(1, 2);
  const int64_t batches = groups == 1 && draw(0, 5) == 0 ? s[0] : 1;
  const int64_t out = each * groups * batches;
  n.conv.feature_group_count = groups;
  n.conv.batch_group_count = batches;
  Shape w = {out, s[1] / groups};
  n.shape = {s[0] / batches, out};
  double terms = static_cast<double>(s[1] / groups);
  for (int i = 2; i < s.rank(); ++i) {
    const int64_t window = draw(1, 3), stride = draw(1, 2), low = draw(0, 2), high = draw(0, 2),
                  spread = draw(0, 3) == 0 ? 2 : 1, apart = draw(0, 3) == 0 ? 2 : 1;
    w.push_back(window);
    terms *= static_cast<double>(window);
    n.conv.strides.push_back(stride);
    n.conv.padding_low.push_back(low);
    n.conv.padding_high.push_back(high);
    n.conv.lhs_dilation.push_back(spread);
    n.conv.rhs_dilation.push_back(apart);
    n.shape.push_back(
        positions((s[i] - 1) * spread + 1 + low + high, (window - 1) * apart + 1, stride));
  }
  if (n.shape.numel() > kMostElements) return;
  // Windows that are numbers of their own, times what depends on another value.
  Node numbers = node(Op::kConstant, {}, w);
  numbers.ints = {draw(1, 1000)};
  int weights = add(numbers, 1);
  if (weights >= 0 && draw(0, 2) > 0) {
    const int y = shaped(any(), w);
    if (y < 0) return;
    Node times = node(Op::kBinary, {weights, y}, w);
    times.which = 2;
    weights = add(times, bound(y));
  }
  if (weights < 0) return;
  n.in = {x, weights};
  add(n, terms * bound(x) * bound(weights));
}

void Generator::pool(int x) {
  const Shape s = at(x).shape;
  if (s.numel() == 0 || s.rank() == 0 || s.rank() > 4) return;
  Node n = node(Op::kWindow, {x}, {});
  n.which = static_cast<int>(draw(0, 2));
  double terms = 1;
  for (int i = 0; i < s.rank(); ++i) {
    // Each window of an extremum holds an element: no infinities.
    const int64_t window = draw(1, 3), most = n.which == 0 ? 2 : window - 1, low = draw(0, most),
                  high = draw(0, most), stride = draw(1, 2);
    const int64_t spread = n.which == 0 && draw(0, 3) == 0 ? 2 : 1,
                  apart = n.which == 0 && draw(0, 3) == 0 ? 2 : 1;
    n.window.window.push_back(window);
    n.window.strides.push_back(stride);
    n.window.padding_low.push_back(low);
    n.window.padding_high.push_back(high);
    n.window.base_dilation.push_back(spread);
    n.window.window_dilation.push_back(apart);
    n.shape.push_back(
        positions((s[i] - 1) * spread + 1 + low + high, (window - 1) * apart + 1, stride));
    terms *= static_cast<double>(window);
  }
  p_.smooth = p_.smooth && n.which == 0;
  add(n, n.which == 0 ? terms * bound(x) : bound(x));
}

}  // namespace spruce::random_programs
