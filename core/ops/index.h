// SPDX-License-Identifier: Apache-2.0
// NumPy's indexing, and pure updates at indices.
//
// Integers, slices, ellipsis and newaxis cost a slice and a reshape; arrays of integers and masks
// gather. An index outside of its axis is an IndexError wherever its value is known: always in
// eager code and under grad. Of a traced index (under vmap and jit) the value is not known: reading
// takes the nearest element, an update leaves out what is outside.
#pragma once

#include <optional>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

struct Primitive;

/// Stands for as many whole axes as are left: x[{ellipsis, 0}].
struct Ellipsis {};
/// The value of that type.
inline constexpr Ellipsis ellipsis{};

/// Puts an axis of size 1 into the result: x[{slice(), newaxis}].
struct NewAxis {};
/// The value of that type.
inline constexpr NewAxis newaxis{};

/// One end of a slice: an integer, negative ones counted from the end of the axis, or none for an
/// open end.
class SliceEnd {
 public:
  /// An open end.
  constexpr SliceEnd(None) {}
  /// A place on the axis; not bool. Throws IndexError for an unsigned number above all int64.
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr SliceEnd(T value)
      : value_(internal::index_of("slice", value)) {}
  /// The integer; nothing for an open end.
  constexpr std::optional<int64_t> value() const { return value_; }

 private:
  std::optional<int64_t> value_;
};

/// A range of an axis, as NumPy's start:stop:step. Ends outside of the axis are moved to its ends.
struct Slice {
  std::optional<int64_t> start;  ///< the first element; none: the end where the range begins
  std::optional<int64_t> stop;   ///< before which it ends; none: the other end
  int64_t step = 1;              ///< not 0; negative ones run backwards
};

/// The whole axis, or all before `stop`.
constexpr Slice slice(SliceEnd stop = none) { return {std::nullopt, stop.value(), 1}; }
/// From `start` to before `stop` in steps; a negative step runs backwards. x[slice(none, none, -1)]
/// reverses.
constexpr Slice slice(SliceEnd start, SliceEnd stop, SliceEnd step = none) {
  return {start.value(), stop.value(), step.value().value_or(1)};
}

/// One entry of an index: an integer, slice(), ellipsis, newaxis, or an array of integers or bool.
class Index {
 public:
  /// What it is.
  enum class Kind : uint8_t {
    kInteger,   ///< one element; the axis goes away
    kSlice,     ///< a range; the axis stays
    kEllipsis,  ///< all axes that no other entry stands for
    kNewAxis,   ///< a new axis of size 1
    kArray      ///< elements named by integers, or a mask
  };

  /// The element at `i`, negative ones counted from the end; not bool. Throws IndexError for an
  /// unsigned number above all int64.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Index(T i, Loc loc = Loc::current())
      : kind_(Kind::kInteger), integer_(internal::index_of("operator[]", i, loc)), loc_(loc) {}
  /// A range of the axis.
  Index(const Slice& s, Loc loc = Loc::current()) : kind_(Kind::kSlice), slice_(s), loc_(loc) {}
  /// At most one in an index.
  Index(Ellipsis, Loc loc = Loc::current()) : kind_(Kind::kEllipsis), loc_(loc) {}
  /// An axis of size 1 in the result; takes none of the array.
  Index(NewAxis, Loc loc = Loc::current()) : kind_(Kind::kNewAxis), loc_(loc) {}
  /// Integers: elements at these places. Bool: a mask of the shape of the axes that it stands for;
  /// its value must be known, so not under vmap or jit (TracerError): there, where(mask, x, other)
  /// does the same without a change of shape.
  Index(const Array& a, Loc loc = Loc::current()) : kind_(Kind::kArray), array_(a), loc_(loc) {}

  /// Which of the following has a meaning.
  Kind kind() const { return kind_; }
  /// Of kInteger, as it was written; else 0.
  int64_t integer() const { return integer_; }
  /// Of kSlice; else the whole axis.
  const Slice& slice() const { return slice_; }
  /// Of kArray; else undefined.
  const Array& array() const { return array_; }
  /// Where in the user's code it was written.
  Loc loc() const { return loc_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  Array array_;
  Loc loc_;
};

namespace internal {
/// What is nothing but an entry of an index. Of slices a temporary only: s = slice(2), ++i is none.
template <class T>
concept IndexEntry = std::same_as<T, Slice> || std::same_as<std::remove_cvref_t<T>, Ellipsis> ||
    std::same_as<std::remove_cvref_t<T>, NewAxis>;
/// Two entries of an index with a comma between them.
template <class A, class B>
concept IndexEntries = IndexEntry<A> ||(std::integral<std::remove_cvref_t<A>>&& IndexEntry<B>);
}  // namespace internal

/// x[slice(), 0] would be x[0], since C++20 has a comma operator there: it is refused.
template <class A, class B>
requires internal::IndexEntries<A, B> Slice operator,(A&&, B&&) {
  static_assert(internal::kNever<A>,
                "spruce: several indices stand in braces: x[{slice(), 0}], x[{ellipsis, 1}]");
  return {};
}

/// A place in an array, made by Array::at(). Each update returns a new array with the shape and
/// dtype of the old one, and broadcasts `v` to the shape of the place; `v` must not need a wider
/// dtype (DtypeError). Where an index occurs several times, all its values take part; of set, the
/// last one stays. Where the array was moved into at() and nothing else holds it, an update outside
/// of all transforms changes it in place.
class ArrayAt {
 public:
  /// The place x[indices]; they are checked when it is read or updated.
  ArrayAt(Array x, std::vector<Index> indices) : x_(std::move(x)), indices_(std::move(indices)) {}

  /// The elements at the place: x[indices].
  Array get(Loc loc = Loc::current()) const;
  /// `v` there. Grad: of x, g with zeros there; of v, g there.
  Array set(const Array& v, Loc loc = Loc::current()) const&;
  Array set(const Array& v, Loc loc = Loc::current()) &&;
  /// x + v there. Grad: of x, g; of v, g there.
  Array add(const Array& v, Loc loc = Loc::current()) const&;
  Array add(const Array& v, Loc loc = Loc::current()) &&;
  /// x - v there.
  Array subtract(const Array& v, Loc loc = Loc::current()) const&;
  Array subtract(const Array& v, Loc loc = Loc::current()) &&;
  /// x v there.
  Array multiply(const Array& v, Loc loc = Loc::current()) const&;
  Array multiply(const Array& v, Loc loc = Loc::current()) &&;
  /// x / v there; x must be floating.
  Array divide(const Array& v, Loc loc = Loc::current()) const&;
  Array divide(const Array& v, Loc loc = Loc::current()) &&;
  /// The smaller of x and v there; NaN wins. Grad: goes to the smallest, ties share it evenly.
  Array min(const Array& v, Loc loc = Loc::current()) const&;
  Array min(const Array& v, Loc loc = Loc::current()) &&;
  /// The larger of x and v there; NaN wins. Grad: goes to the largest, ties share it evenly.
  Array max(const Array& v, Loc loc = Loc::current()) const&;
  Array max(const Array& v, Loc loc = Loc::current()) &&;

 private:
  Array x_;
  std::vector<Index> indices_;
};

/// Declared in array.h; stands here because it needs Index and ArrayAt complete.
template <class... I>
ArrayAt Array::at(const I&... indices) const& {
  return ArrayAt(*this, {Index(indices)...});
}
template <class... I>
ArrayAt Array::at(const I&... indices) && {
  return ArrayAt(std::move(*this), {Index(indices)...});
}

}  // namespace spruce
