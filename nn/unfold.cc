// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/unfold.h"

#include <vector>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/pad.h"

namespace spruce::nn {
namespace {

// The windows over an image of h by w: for each axis the sizes and how many there are.
struct Columns {
  Shape kernel, dilation, padding, stride, image, counts;

  int64_t per_channel() const { return kernel.numel(); }
  int64_t windows() const { return counts.numel(); }
  // i64[kernel * count]: places of the padded axis.
  Array places(int axis) const {
    std::vector<int64_t> out;
    for (int64_t k = 0; k < kernel[axis]; ++k) {
      for (int64_t i = 0; i < counts[axis]; ++i)
        out.push_back(k * dilation[axis] + i * stride[axis]);
    }
    return array(out);
  }
};

Columns columns_of(const char* op, const Shape& image, const WindowArg& kernel,
                   const UnfoldOptions& o) {
  Columns c{kernel.resolve(op, "kernel", 2, 1),
            o.dilation.resolve(op, "dilation", 2, 1),
            o.padding.resolve(op, "padding", 2, 0),
            o.stride.resolve(op, "stride", 2, 1),
            image,
            {}};
  for (int i = 0; i < 2; ++i) {
    const int64_t free = image[i] + 2 * c.padding[i] - c.dilation[i] * (c.kernel[i] - 1) - 1;
    if (free < 0) {
      throw ShapeError(std::string(op) + ": the window " + to_string(c.kernel) + " with dilation " +
                       to_string(c.dilation) + " is larger than the padded image " +
                       to_string(image));
    }
    c.counts.push_back(free / c.stride[i] + 1);
  }
  return c;
}

}  // namespace

Array UnfoldFunction::operator()(const Array& x, const WindowArg& kernel, const UnfoldOptions& o,
                                 Loc loc) const {
  const OpScope at("unfold", loc);
  const spruce::internal::SameDevice here(x);
  spruce::internal::require_defined("unfold", "x", x);
  if (x.rank() != 3 && x.rank() != 4) {
    throw ShapeError("unfold: takes f[n, c, h, w] or f[c, h, w], got " + to_string(x.aval()));
  }
  const Columns c = columns_of("unfold", {x.shape(-2), x.shape(-1)}, kernel, o);
  const int64_t channels = x.shape(-3), n = x.rank() == 4 ? x.shape()[0] : 1;
  Array y = internal::padded("unfold", x, c.padding, c.padding, PaddingMode::kZeros, 0);
  y = rules::take_axis(y, c.places(0), y.rank() - 2);
  y = rules::take_axis(y, c.places(1), y.rank() - 1);
  y = reshape(y, {n, channels, c.kernel[0], c.counts[0], c.kernel[1], c.counts[1]});
  y = transpose(y, {0, 1, 2, 4, 3, 5});
  const Shape columns{channels * c.per_channel(), c.windows()};
  return reshape(y, x.rank() == 4 ? Shape{n, columns[0], columns[1]} : columns);
}

Array FoldFunction::operator()(const Array& x, const WindowArg& output_size,
                               const WindowArg& kernel, const UnfoldOptions& o, Loc loc) const {
  const OpScope at("fold", loc);
  const spruce::internal::SameDevice here(x);
  spruce::internal::require_defined("fold", "x", x);
  const Columns c = columns_of("fold", output_size.resolve("fold", "output_size", 2, 1), kernel, o);
  const bool fits = (x.rank() == 2 || x.rank() == 3) && x.shape(-2) % c.per_channel() == 0 &&
                    x.shape(-1) == c.windows();
  if (!fits) {
    throw ShapeError("fold: x is " + to_string(x.aval()) + "; windows " + to_string(c.kernel) +
                     " of an image " + to_string(c.image) + " are f[n, c " +
                     std::to_string(c.per_channel()) + ", " + std::to_string(c.windows()) +
                     "] or that without n");
  }
  const int64_t n = x.rank() == 3 ? x.shape()[0] : 1, channels = x.shape(-2) / c.per_channel(),
                height = c.image[0] + 2 * c.padding[0], width = c.image[1] + 2 * c.padding[1];
  Array y = reshape(x, {n, channels, c.kernel[0], c.kernel[1], c.counts[0], c.counts[1]});
  y = reshape(transpose(y, {0, 1, 2, 4, 3, 5}),
              {n, channels, c.kernel[0] * c.counts[0], c.kernel[1] * c.counts[1]});
  const auto added = [&](const Shape& shape, const Index& axis, const Index& behind) {
    return zeros(shape, x.dtype()).at(slice(), slice(), axis, behind).add(y);
  };
  y = added({n, channels, y.shape()[2], width}, slice(), c.places(1));
  y = added({n, channels, height, width}, c.places(0), slice());
  y = internal::padded("fold", y, {-c.padding[0], -c.padding[1]}, {-c.padding[0], -c.padding[1]},
                       PaddingMode::kZeros, 0);
  return x.rank() == 3 ? y : squeeze(y, 0);
}

}  // namespace spruce::nn
