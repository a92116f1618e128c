// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/pad.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/rearrange.h"
#include "spruce/core/ranges.h"

namespace spruce::nn {
namespace {

[[noreturn]] void throw_padding(const char* op, const Array& x, int64_t low, int64_t high, int axis,
                                const char* must) {
  throw ShapeError(std::string(op) + ": padding " + std::to_string(low) + ", " +
                   std::to_string(high) + " of axis " + std::to_string(axis) + " of x " +
                   to_string(x.aval()) + "; " + must);
}

void check_axis(const char* op, const Array& x, int64_t low, int64_t high, int axis,
                PaddingMode mode) {
  const int64_t size = x.shape()[axis], larger = std::max(low, high);
  if (mode != PaddingMode::kConstant && std::min(low, high) < 0) {
    throw ValueError(std::string(op) + ": padding " + std::to_string(low) + ", " +
                     std::to_string(high) + " of x " + to_string(x.aval()) +
                     "; only constant padding may be negative");
  }
  if (mode == PaddingMode::kConstant &&
      size + std::clamp<int64_t>(low, -size - 1, 0) + std::clamp<int64_t>(high, -size - 1, 0) < 0)
    throw_padding(op, x, low, high, axis, "it takes away more than there is");
  if (mode == PaddingMode::kReflect && larger >= size && larger > 0)
    throw_padding(op, x, low, high, axis, "a mirror must be smaller than its axis");
  if (mode == PaddingMode::kCircular && larger > size)
    throw_padding(op, x, low, high, axis, "a circle goes around its axis once at most");
}

PadMode pad_mode(PaddingMode mode) {
  switch (mode) {
    case PaddingMode::kReflect:
      return PadMode::kReflect;
    case PaddingMode::kReplicate:
      return PadMode::kEdge;
    case PaddingMode::kCircular:
      return PadMode::kWrap;
    default:
      return PadMode::kConstant;
  }
}

// Integers hold whole numbers within their range.
void check_value(const char* op, const Array& x, double value) {
  visit_dtype(x.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const double low = static_cast<double>(std::numeric_limits<T>::min()),
                   end = std::ldexp(1.0, std::numeric_limits<T>::digits);
      if (value == std::trunc(value) && value >= low && value < end) return;
      throw ValueError(std::string(op) + ": the value " + spruce::internal::number_text(value) +
                       " does not fit in " + to_string(x.aval()) + "; convert x with astype");
    }
  });
}

}  // namespace

namespace internal {

Array padded(const char* op, const Array& x, const Shape& low, const Shape& high, PaddingMode mode,
             double value) {
  const int lead = x.rank() - low.rank();
  std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()), {0, 0});
  std::vector<Index> kept{ellipsis};
  bool cuts = false;
  if (mode == PaddingMode::kConstant) check_value(op, x, value);
  for (int i = 0; i < low.rank(); ++i) {
    check_axis(op, x, low[i], high[i], lead + i, mode);
    widths[static_cast<size_t>(lead + i)] = {std::max<int64_t>(low[i], 0),
                                             std::max<int64_t>(high[i], 0)};
    const int64_t start = std::max<int64_t>(-low[i], 0),
                  stop = x.shape()[lead + i] - std::max<int64_t>(-high[i], 0);
    kept.push_back(slice(start, stop));
    cuts = cuts || low[i] < 0 || high[i] < 0;
  }
  const Array inside = cuts ? ArrayAt(x, kept).get() : x;
  return spruce::pad(inside, widths, {.mode = pad_mode(mode), .value = value});
}

Array pad_layer(const char* op, int axes, const Array& x, const WindowArg& padding,
                const PaddingOptions& options, Loc loc) {
  const OpScope at(op, loc);
  return nn::pad(x, padding.resolve(op, "padding", 2 * axes, std::numeric_limits<int64_t>::min()),
                 options);
}

}  // namespace internal

Array PadFunction::operator()(const Array& x, const Shape& padding, const PaddingOptions& o,
                              Loc loc) const {
  const OpScope at("pad", loc);
  spruce::internal::require_defined("pad", "x", x);
  if (padding.rank() % 2 != 0 || padding.rank() / 2 > x.rank()) {
    throw ShapeError("pad: padding is " + to_string(padding) + " for x " + to_string(x.aval()) +
                     "; it needs two entries for each axis that is padded, the last axis first");
  }
  const int axes = padding.rank() / 2;
  Shape low, high;
  for (int i = axes - 1; i >= 0; --i) {
    low.push_back(padding[2 * i]);
    high.push_back(padding[2 * i + 1]);
  }
  return internal::padded("pad", x, low, high, o.mode, o.value);
}

}  // namespace spruce::nn
