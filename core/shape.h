// SPDX-License-Identifier: Apache-2.0
// Shapes and lists of axes: short lists of int64 without heap memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "spruce/core/callable.h"
#include "spruce/core/dtype.h"

namespace spruce {

/// The largest rank of an array. vmap adds an axis, so the ranks of a user's own arrays should stay
/// below.
inline constexpr int kMaxRank = 16;

/// An entry of a braced Shape, of any type of integers: `{v.size(), 2}`.
struct ShapeEntry {
  int64_t value;  ///< the entry

  /// Throws ShapeError above the largest int64.
  template <std::convertible_to<int64_t> T>
  requires(!std::is_floating_point_v<T> && !kIsHalf<T>) constexpr ShapeEntry(T i)
      : value(static_cast<int64_t>(i)) {
    if constexpr (std::unsigned_integral<T>) {
      if (value < 0) throw_too_large(static_cast<uint64_t>(i));
    }
  }

 private:
  [[noreturn]] static void throw_too_large(uint64_t i);
};

/// A list of at most kMaxRank int64: the sizes of an array's axes, or axes, strides and the like.
class Shape {
 public:
  /// No entries: the shape of a number.
  constexpr Shape() = default;
  /// Throws ShapeError for more than kMaxRank entries.
  constexpr Shape(std::initializer_list<ShapeEntry> dims) {
    if (dims.size() > kMaxRank) throw_rank(static_cast<int64_t>(dims.size()));
    for (const ShapeEntry& d : dims) dims_[rank_++] = d.value;
  }
  /// A list that has a name.
  template <std::same_as<std::initializer_list<int64_t>> List>
  constexpr Shape(List dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit constexpr Shape(std::span<const int64_t> dims) {
    if (dims.size() > kMaxRank) throw_rank(static_cast<int64_t>(dims.size()));
    for (const int64_t d : dims) dims_[rank_++] = d;
  }
  Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}
  /// `rank` entries of `value`.
  static constexpr Shape filled(int rank, int64_t value) {
    if (rank < 0 || rank > kMaxRank) throw_rank(rank);
    Shape s;
    s.rank_ = rank;
    for (int i = 0; i < rank; ++i) s.dims_[i] = value;
    return s;
  }

  /// Number of entries.
  constexpr int rank() const { return rank_; }
  /// The same, as containers have it; numel() is the number of elements.
  constexpr size_t size() const { return static_cast<size_t>(rank_); }
  /// True for rank 0; the shape of an array without elements is not empty.
  constexpr bool empty() const { return rank_ == 0; }
  /// Entry i; negative ones count from the end. Throws ShapeError for one that is not there.
  template <std::integral T>
  constexpr int64_t operator[](T i) const {
    return dims_[place(i)];
  }
  template <std::integral T>
  constexpr int64_t& operator[](T i) {
    return dims_[place(i)];
  }
  /// The last entry. Throws ShapeError where there is none.
  constexpr int64_t back() const { return dims_[place(-1)]; }
  constexpr int64_t& back() { return dims_[place(-1)]; }
  /// The first entry; where it is changed, so is the shape.
  constexpr const int64_t* begin() const { return dims_; }
  /// Behind the last entry.
  constexpr const int64_t* end() const { return dims_ + rank_; }
  constexpr int64_t* begin() { return dims_; }
  constexpr int64_t* end() { return dims_ + rank_; }
  /// The entries, one behind the other, in the Shape itself.
  constexpr const int64_t* data() const { return dims_; }
  constexpr operator std::span<const int64_t>() const { return {dims_, size()}; }

  /// Appends one entry. Throws ShapeError past kMaxRank.
  constexpr void push_back(int64_t d) {
    if (rank_ == kMaxRank) throw_rank(kMaxRank + 1);
    dims_[rank_++] = d;
  }
  /// Inserts `d` before entry `at` (0..rank). Throws ShapeError for other places.
  constexpr void insert(int at, int64_t d) {
    if (at < 0 || at > rank_) throw_entry(*this, int64_t{at});
    push_back(d);
    for (int i = rank_ - 1; i > at; --i) dims_[i] = dims_[i - 1];
    dims_[at] = d;
  }
  /// Takes entry `at` out; negative ones count from the end. Throws ShapeError for one that is not
  /// there.
  constexpr void erase(int at) {
    for (int i = place(at); i + 1 < rank_; ++i) dims_[i] = dims_[i + 1];
    --rank_;
  }
  /// True if an entry is `value`.
  constexpr bool contains(int64_t value) const {
    for (int i = 0; i < rank_; ++i) {
      if (dims_[i] == value) return true;
    }
    return false;
  }
  /// The product of the entries: the number of elements of an array of this shape; 1 for rank 0.
  /// The product is known to fit for the shape of any array (see check_shape).
  constexpr int64_t numel() const {
    int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= dims_[i];
    return n;
  }

  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a.dims_[i] != b.dims_[i]) return false;
    }
    return true;
  }
  /// Prints "[64,784]".
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);

 private:
  [[noreturn]] static void throw_rank(int64_t rank);
  [[noreturn]] static void throw_entry(const Shape& shape, int64_t i);
  [[noreturn]] static void throw_entry(const Shape& shape, uint64_t i);

  // The place of entry i. A negative i is a large number without its sign, so that entries that are
  // there cost one comparison; all others are found out of line.
  template <std::integral T>
  constexpr int place(T i) const {
    if (static_cast<uint64_t>(i) < static_cast<uint64_t>(rank_)) [[likely]]
      return static_cast<int>(i);
    if constexpr (std::signed_integral<T>) {
      return place_from_end(static_cast<int64_t>(i));
    } else {
      throw_entry(*this, static_cast<uint64_t>(i));
    }
  }
  int place_from_end(int64_t i) const;

  int64_t dims_[kMaxRank] = {};
  int32_t rank_ = 0;
};

/// A list of axes.
using Axes = Shape;

namespace internal {
/// In the place of the result of a call whose sizes stand without braces.
template <class Result, std::integral N>
Result refused_sizes() {
  static_assert(kNever<N>,
                "spruce: a shape stands in braces: zeros({3, 4}), zeros({3}), x.reshape({2, -1})");
  return refused<Result>();
}
}  // namespace internal

/// "[64,784]".
std::string to_string(const Shape& shape);

/// What is known of a value before it is computed: `f32[64,784]`. Weak values come from C++
/// scalars: their dtype gives way in promotion.
struct Aval {
  Dtype dtype = Dtype::kFloat32;  ///< of the elements
  bool weak = false;              ///< whether the dtype gives way
  Shape shape;                    ///< sizes of the axes; rank 0 by default
  uint8_t device = 0;             ///< where it is or will be: Device::index(), 0 for the CPU

  /// Number of elements.
  int64_t numel() const { return shape.numel(); }
  /// The dtype of what is made from it and lasts (zeros_like, states of optimizers): that
  /// of a weak f64, a C++ double, is f32.
  Dtype strong_dtype() const { return weak && dtype == Dtype::kFloat64 ? Dtype::kFloat32 : dtype; }
  /// Bytes of the elements.
  int64_t bytes() const { return shape.numel() * size_of(dtype); }
  friend bool operator==(const Aval&, const Aval&) = default;
  /// Prints "f32[64,784]".
  friend std::ostream& operator<<(std::ostream& out, const Aval& aval);
};

/// "f32[64,784]"; weak values print with a star, "f32*[]", those that are not on the CPU with their
/// device, "f32[64,784]@cuda:0".
std::string to_string(const Aval& aval);

/// Throws ShapeError, naming `op`, if a size is negative or the number of bytes does not fit in
/// int64.
void check_shape(const char* op, const Shape& shape, int64_t element_bytes = 8);
/// `axis` in 0..rank-1, negative ones counted from the end. Throws ShapeError naming `op` if it is
/// out of range.
int normalize_axis(const char* op, int64_t axis, int rank);
/// All axes normalized, in the order given. Throws ShapeError for one that is out of range or given
/// twice.
Axes normalize_axes(const char* op, const Axes& axes, int rank);
/// The common shape by NumPy's rules: aligned at the last axis, sizes equal or 1. Throws ShapeError
/// naming `op`.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);
/// True if an array of shape `from` can be broadcast to `to`.
bool broadcasts_to(const Shape& from, const Shape& to);
/// Row-major strides in elements.
Shape row_major_strides(const Shape& shape);

}  // namespace spruce
