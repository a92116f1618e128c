// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/shape.h"

#include <ostream>

#include "spruce/core/axis_arg.h"
#include "spruce/core/device.h"
#include "spruce/core/error.h"

namespace spruce {

void ShapeEntry::throw_too_large(uint64_t i) {
  throw ShapeError("shape: " + std::to_string(i) +
                   " is above the largest size, 9223372036854775807; was a negative number made "
                   "unsigned?");
}

void Shape::throw_rank(int64_t rank) {
  throw ShapeError("shape: rank " + std::to_string(rank) + " is above the largest one, " +
                   std::to_string(kMaxRank) + "; merge axes by reshape");
}

namespace {

[[noreturn]] void throw_entry_named(const Shape& shape, const std::string& i) {
  const int n = shape.rank();
  const std::string range = n == 0 ? "it has none"
                                   : "they are 0.." + std::to_string(n - 1) + ", and -1..-" +
                                         std::to_string(n) + " from the end";
  throw ShapeError("shape: the shape " + to_string(shape) + " has no entry " + i + "; " + range);
}

}  // namespace

void Shape::throw_entry(const Shape& shape, int64_t i) {
  throw_entry_named(shape, std::to_string(i));
}

void Shape::throw_entry(const Shape& shape, uint64_t i) {
  throw_entry_named(shape, std::to_string(i));
}

int Shape::place_from_end(int64_t i) const {
  if (i >= 0 || i < -rank_) throw_entry(*this, i);
  return static_cast<int>(i) + rank_;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

std::ostream& operator<<(std::ostream& out, const Aval& aval) { return out << to_string(aval); }

std::string to_string(const Shape& shape) {
  std::string s = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) s += ',';
    s += std::to_string(shape[i]);
  }
  return s + "]";
}

std::string to_string(const Aval& aval) {
  std::string s =
      std::string(short_name(aval.dtype)) + (aval.weak ? "*" : "") + to_string(aval.shape);
  if (aval.device != 0) (s += '@') += device_at(aval.device).name();
  return s;
}

void check_shape(const char* op, const Shape& shape, int64_t element_bytes) {
  int64_t bytes = element_bytes;
  bool overflow = false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] < 0) {
      throw ShapeError(std::string(op) + ": shape " + to_string(shape) + " has the negative size " +
                       std::to_string(shape[i]) + " on axis " + std::to_string(i));
    }
    // A size of zero must not hide that the other sizes overflow in a later reshape or broadcast.
    if (shape[i] > 0) overflow = overflow || __builtin_mul_overflow(bytes, shape[i], &bytes);
  }
  if (overflow) {
    throw ShapeError(std::string(op) + ": shape " + to_string(shape) +
                     " has more bytes than int64 can count");
  }
}

int normalize_axis(const char* op, int64_t axis, int rank) {
  if (axis >= rank || axis < -rank) {
    const std::string range =
        rank == 0 ? "which has no axes"
                  : "whose axes are " + std::to_string(-rank) + ".." + std::to_string(rank - 1);
    throw ShapeError(std::string(op) + ": axis " + std::to_string(axis) +
                     " is out of range for an array of rank " + std::to_string(rank) + ", " +
                     range);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Axes normalize_axes(const char* op, const Axes& axes, int rank) {
  Axes out;
  for (const int64_t axis : axes) {
    const int a = normalize_axis(op, axis, rank);
    if (out.contains(a)) {
      throw ShapeError(std::string(op) + ": axis " + std::to_string(axis) + " is given twice in " +
                       to_string(axes));
    }
    out.push_back(a);
  }
  return out;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  Shape out = Shape::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const int64_t x = i <= a.rank() ? a[a.rank() - i] : 1, y = i <= b.rank() ? b[b.rank() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      throw ShapeError(std::string(op) + ": shapes " + to_string(a) + " and " + to_string(b) +
                       " do not broadcast: axis " + std::to_string(-i) + " has sizes " +
                       std::to_string(x) + " and " + std::to_string(y) +
                       "; sizes must be equal or 1, aligned at the last axis");
    }
    out[rank - i] = x == 1 ? y : x;
  }
  return out;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  for (int i = 1; i <= from.rank(); ++i) {
    const int64_t x = from[from.rank() - i];
    if (x != 1 && x != to[to.rank() - i]) return false;
  }
  return true;
}

Axes AxisArg::resolve(const char* op, int rank) const {
  if (!all_) return normalize_axes(op, axes_, rank);
  Axes out;
  for (int i = 0; i < rank; ++i) out.push_back(i);
  return out;
}

Shape row_major_strides(const Shape& shape) {
  Shape strides = Shape::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

}  // namespace spruce
