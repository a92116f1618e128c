// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/pixel_shuffle.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn {
namespace {

void require_image(const char* op, const Array& x) {
  spruce::internal::require_defined(op, "x", x);
  if (x.rank() < 3)
    throw ShapeError(std::string(op) + ": takes f[..., c, h, w], got " + to_string(x.aval()));
}

[[noreturn]] void throw_factor(const char* op, const char* name, int64_t factor, const Array& x,
                               const char* must) {
  throw ShapeError(std::string(op) + ": " + name + " is " + std::to_string(factor) + " for x " +
                   to_string(x.aval()) + "; it must be at least 1 and " + must);
}

// The axes in front of the last three.
Shape lead_of(const Array& x) {
  Shape out;
  for (int i = 0; i + 3 < x.rank(); ++i) out.push_back(x.shape()[i]);
  return out;
}

Shape joined(Shape a, std::initializer_list<int64_t> b) {
  for (const int64_t n : b) a.push_back(n);
  return a;
}

// The last axes in another order; those in front stay.
Array permuted(const Array& x, int lead, std::initializer_list<int> last) {
  Axes axes;
  for (int i = 0; i < lead; ++i) axes.push_back(i);
  for (const int i : last) axes.push_back(lead + i);
  return transpose(x, axes);
}

}  // namespace

Array PixelShuffleFunction::operator()(const Array& x, int64_t r, Loc loc) const {
  const OpScope at("pixel_shuffle", loc);
  require_image("pixel_shuffle", x);
  const int64_t channels = x.shape(-3), h = x.shape(-2), w = x.shape(-1);
  if (r < 1 || channels % r != 0 || channels / r % r != 0)
    throw_factor("pixel_shuffle", "upscale_factor", r, x, "its square must divide the channels");
  const Shape lead = lead_of(x);
  const int64_t c = channels / r / r;
  const Array parts = reshape(x, joined(lead, {c, r, r, h, w}));
  return reshape(permuted(parts, lead.rank(), {0, 3, 1, 4, 2}), joined(lead, {c, h * r, w * r}));
}

Array PixelUnshuffleFunction::operator()(const Array& x, int64_t r, Loc loc) const {
  const OpScope at("pixel_unshuffle", loc);
  require_image("pixel_unshuffle", x);
  const int64_t c = x.shape(-3);
  if (r < 1 || x.shape(-2) % r != 0 || x.shape(-1) % r != 0)
    throw_factor("pixel_unshuffle", "downscale_factor", r, x, "divide height and width");
  const int64_t h = x.shape(-2) / r, w = x.shape(-1) / r;
  const Shape lead = lead_of(x);
  const Array parts = reshape(x, joined(lead, {c, h, r, w, r}));
  return reshape(permuted(parts, lead.rank(), {0, 2, 4, 1, 3}), joined(lead, {c * r * r, h, w}));
}

Array ChannelShuffleFunction::operator()(const Array& x, int64_t groups, Loc loc) const {
  const OpScope at("channel_shuffle", loc);
  spruce::internal::require_defined("channel_shuffle", "x", x);
  if (x.rank() < 3)
    throw ShapeError("channel_shuffle: takes f[n, c, d...], got " + to_string(x.aval()));
  const int64_t channels = x.shape()[1];
  if (groups < 1 || channels % groups != 0)
    throw_factor("channel_shuffle", "groups", groups, x, "divide the channels");
  Shape shape = x.shape();
  shape[1] = channels / groups;
  shape.insert(1, groups);
  return reshape(swapaxes(reshape(x, shape), 1, 2), x.shape());
}

Array UnflattenFunction::operator()(const Array& x, Axis dim, const Shape& sizes, Loc loc) const {
  const OpScope at("unflatten", loc);
  spruce::internal::require_defined("unflatten", "x", x);
  const int axis = normalize_axis("unflatten", dim, x.rank());
  int64_t known = 1, open = 0;
  bool countable = true;
  for (const int64_t n : sizes) {
    if (n == -1)
      ++open;
    else
      countable = countable && n >= 0 && !__builtin_mul_overflow(known, n, &known);
  }
  const int64_t size = x.shape()[axis];
  const bool fits = open == 0 ? known == size : open == 1 && known > 0 && size % known == 0;
  if (!countable || !fits || sizes.empty()) {
    throw ShapeError("unflatten: axis " + std::to_string(int64_t{dim}) + " of " +
                     to_string(x.aval()) + " cannot be cut into " + to_string(sizes) +
                     "; the sizes must multiply to that of the axis, one may be -1");
  }
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) {
      shape.push_back(x.shape()[i]);
      continue;
    }
    for (const int64_t n : sizes) shape.push_back(n == -1 ? size / known : n);
  }
  return reshape(x, shape);
}

}  // namespace spruce::nn
