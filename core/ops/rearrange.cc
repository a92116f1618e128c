// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/rearrange.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "spruce/core/interpreter.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/shape.h"

namespace spruce {

Array FlipFunction::operator()(const Array& x, const AxisArg& axes, Loc loc) const {
  const OpScope at("flip", loc);
  return rules::reverse_axes(x, axes.resolve("flip", x.rank()));
}

namespace {

// memcpy, by way of a buffer where both begin at nearly the same place within a page: there, loads
// of the one wait for stores of the other.
void copy_bytes(char* to, const char* from, int64_t bytes) {
  constexpr uintptr_t kPage = 4096, kNear = 32;
  const uintptr_t ahead =
      (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  if (ahead == 0 || ahead >= kNear) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  constexpr int64_t kBytes = 2048;
  char buffer[kBytes];
  for (int64_t at = 0; at < bytes; at += kBytes) {
    const auto n = static_cast<size_t>(std::min(kBytes, bytes - at));
    std::memcpy(buffer, from + at, n);
    std::memcpy(to + at, buffer, n);
  }
}

// Each row, of what stands under the axis, in two copies. For values that nothing traces.
Array rolled_at_once(const Array& x, int64_t by, int axis) {
  int64_t row = size_of(x.dtype());
  for (int i = x.rank() - 1; i >= axis; --i) row *= x.shape()[i];
  const int64_t tail = row / x.shape()[axis] * by, head = row - tail;
  Array out = internal::make_array(x.aval());
  const char* from = static_cast<const char*>(x.impl()->buffer->data());
  char* to = static_cast<char*>(internal::mutable_data(out));
  const auto copy = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const char* source = from + i * row;
      char* target = to + i * row;
      std::memcpy(target, source + head, static_cast<size_t>(tail));
      copy_bytes(target + tail, source, head);
    }
  };
  constexpr int64_t kBytes = 1 << 19;  // are worth a thread of their own
  cpu::parallel_for(x.nbytes() / row, std::max<int64_t>(1, kBytes / row), copy);
  return out;
}

Array rolled(const Array& x, int64_t shift, int axis) {
  const int64_t n = x.shape()[axis];
  const int64_t by = n == 0 ? 0 : (shift % n + n) % n;
  if (by == 0) return x;
  const bool traced = Interpreter::current() != nullptr || x.is_tracer();
  if (!traced && x.aval().device == 0 && x.size() > 0) return rolled_at_once(x, by, axis);
  const Array parts[] = {rules::slice_axis(x, axis, n - by, n),
                         rules::slice_axis(x, axis, 0, n - by)};
  return rules::concatenate_axis(parts, axis);
}

}  // namespace

Array RollFunction::operator()(const Array& x, int64_t shift, const AxisArg& axes, Loc loc) const {
  const OpScope at("roll", loc);
  return roll(x, Shape{shift}, axes, loc);
}

Array RollFunction::operator()(const Array& x, const Shape& shifts, const AxisArg& axes,
                               Loc loc) const {
  const OpScope at("roll", loc);
  if (axes.all()) return reshape(roll(ravel(x), shifts, 0), x.shape());
  const int given = shifts.rank(), named = axes.count(), pairs = std::max(given, named);
  if (given != named && std::min(given, named) != 1) {
    throw ShapeError("roll: " + std::to_string(given) + " shifts are given for " +
                     std::to_string(named) + " axes; give one for each, or one for all");
  }
  Shape by = Shape::filled(x.rank(), 0);
  for (int i = 0; i < pairs; ++i) {
    const int axis = normalize_axis("roll", axes.named()[named == 1 ? 0 : i], x.rank());
    const int64_t n = std::max<int64_t>(x.shape()[axis], 1);
    by[axis] = (by[axis] + shifts[given == 1 ? 0 : i] % n) % n;
  }
  Array out = x;
  for (int axis = 0; axis < x.rank(); ++axis) out = rolled(out, by[axis], axis);
  return out;
}

Array Rot90Function::operator()(const Array& x, int64_t turns, const AxisArg& plane,
                                Loc loc) const {
  const OpScope at("rot90", loc);
  const Axes axes = plane.resolve("rot90", x.rank());
  if (axes.rank() != 2)
    throw ShapeError("rot90: a plane has two axes, not " + std::to_string(axes.rank()) +
                     "; name both");
  switch ((turns % 4 + 4) % 4) {
    case 1:
      return swapaxes(flip(x, axes[1]), axes[0], axes[1]);
    case 2:
      return flip(x, axes);
    case 3:
      return flip(swapaxes(x, axes[0], axes[1]), axes[1]);
    default:
      return x;
  }
}

std::vector<std::pair<int64_t, int64_t>> PadWidths::resolve(const char* op, int rank) const {
  if (each_ && axes_.size() != static_cast<size_t>(rank)) {
    throw ShapeError(std::string(op) + ": " + std::to_string(axes_.size()) +
                     " pairs of widths are given for an array of rank " + std::to_string(rank) +
                     "; give one for each axis");
  }
  auto out =
      each_ ? axes_ : std::vector<std::pair<int64_t, int64_t>>(static_cast<size_t>(rank), all_);
  for (const auto& [before, after] : out) {
    if (before < 0 || after < 0) {
      throw ValueError(std::string(op) + ": widths (" + std::to_string(before) + ", " +
                       std::to_string(after) +
                       ") are negative; cut elements off with x[slice(...)]");
    }
  }
  return out;
}

namespace {

// Which element of an axis of n stands at place i, which may lie outside.
int64_t source(PadMode mode, int64_t i, int64_t n) {
  const auto modulo = [](int64_t a, int64_t m) { return (a % m + m) % m; };
  switch (mode) {
    case PadMode::kEdge:
      return std::clamp<int64_t>(i, 0, n - 1);
    case PadMode::kWrap:
      return modulo(i, n);
    case PadMode::kSymmetric: {
      const int64_t m = modulo(i, 2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    default: {
      if (n == 1) return 0;
      const int64_t m = modulo(i, 2 * n - 2);
      return m < n ? m : 2 * n - 2 - m;
    }
  }
}

// Around the array stand slices of it: each run of places whose sources rise, fall or stand still
// is one.
Array padded_axis(const Array& x, int axis, int64_t before, int64_t after, PadMode mode) {
  const int64_t n = x.shape()[axis];
  if (before == 0 && after == 0) return x;
  if (n == 0) {
    throw ShapeError("pad: axis " + std::to_string(axis) + " of " + to_string(x.aval()) +
                     " has no elements that could be repeated; pad with a constant");
  }
  std::vector<Array> parts;
  for (int64_t i = -before; i < n + after;) {
    if (i == 0) {  // the array itself, which is not cut
      parts.push_back(x);
      i = n;
      continue;
    }
    const int64_t end = i < 0 ? 0 : n + after, first = source(mode, i, n);
    const int64_t step =
        i + 1 < end ? std::clamp<int64_t>(source(mode, i + 1, n) - first, -n, n) : 1;
    const bool runs = step >= -1 && step <= 1;
    int64_t count = 1;
    while (runs && i + count < end && source(mode, i + count, n) == first + count * step) ++count;
    if (step == 0 && count > 1) {
      Shape wide = x.shape();
      wide[axis] = count;
      parts.push_back(broadcast_to(rules::slice_axis(x, axis, first, first + 1), wide));
    } else if (step == -1 && count > 1) {
      parts.push_back(
          rules::reverse_axes(rules::slice_axis(x, axis, first - count + 1, first + 1), {axis}));
    } else {
      parts.push_back(rules::slice_axis(x, axis, first, first + count));
    }
    i += count;
  }
  return rules::concatenate_axis(parts, axis);
}

}  // namespace

Array PadFunction::operator()(const Array& x, const PadWidths& widths, const PadOptions& options,
                              Loc loc) const {
  const OpScope at("pad", loc);
  const auto pairs = widths.resolve("pad", x.rank());
  if (options.mode != PadMode::kConstant) {
    Array out = x;
    for (int i = 0; i < x.rank(); ++i) {
      const auto [before, after] = pairs[static_cast<size_t>(i)];
      out = padded_axis(out, i, before, after, options.mode);
    }
    return out;
  }
  internal::require_defined("pad", "value", options.value);
  if (options.value.rank() != 0) {
    throw ShapeError("pad: the value is " + to_string(options.value.aval()) +
                     "; it must be of rank 0");
  }
  Shape low, high;
  for (const auto& [before, after] : pairs) {
    low.push_back(before);
    high.push_back(after);
  }
  return rules::pad_all(
      x, rules::convert(internal::converted("pad", options.value, x.dtype()), x.dtype(), x.weak()),
      low, high, Shape::filled(x.rank(), 0));
}

}  // namespace spruce
