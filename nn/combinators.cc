// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/combinators.h"

namespace spruce::nn::internal {

int64_t checked_repeats(int64_t n) {
  if (n < 0)
    throw ValueError("repeat: n is " + std::to_string(n) + "; a block stands 0 times or more");
  return n;
}

void check_residual(const Array& x, const Array& y) {
  if (!(x.shape() == y.shape())) {
    throw ShapeError("residual: the input is " + to_string(x.aval()) + " and the parts give " +
                     to_string(y.aval()) +
                     "; they have to keep the shape, or use parallel(shortcut, body) and sp::add");
  }
}

void check_no_updates(const Context& ctx) {
  if (!ctx.updates.empty()) {
    throw ValueError(
        "repeat: a stacked block updates buffers in training, which the loop cannot hand out; "
        "leave "
        "out `stacked`");
  }
}

}  // namespace spruce::nn::internal
