// SPDX-License-Identifier: Apache-2.0
// Templates of array.h; not to be included on its own.
#pragma once

#include "spruce/core/array.h"

namespace spruce {
namespace internal {

// An array of the dtype `to` from `count` elements of the dtype `from`.
Array from_host(Dtype from, const void* data, int64_t count, const Shape& shape, Dtype to, Loc loc);

template <class T>
Array from_list(std::span<const T> values, const Shape& shape, Dtype dtype, Loc loc) {
  return from_host(dtype_of<T>(), values.data(), static_cast<int64_t>(values.size()), shape, dtype,
                   loc);
}

template <class T>
Array from_vector(const std::vector<T>& values, const Shape& shape, Dtype dtype, Loc loc) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    return from_host(Dtype::kBool, bytes.data(), static_cast<int64_t>(bytes.size()), shape, dtype,
                     loc);
  } else {
    return from_list(std::span<const T>(values), shape, dtype, loc);
  }
}

[[noreturn]] void throw_ragged(size_t expected, size_t got, Loc loc);

// The elements of rows of one length, one row behind the other.
template <class T, class Rows>
std::vector<T> in_one(const Rows& rows, Loc loc) {
  std::vector<T> flat;
  const size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  for (const auto& row : rows) {
    if (row.size() != columns) throw_ragged(columns, row.size(), loc);
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

}  // namespace internal

/// The elements of a bool array. A type of its own since std::vector<bool> has no data().
template <>
inline std::vector<bool> Array::to_vector<bool>(Loc loc) const {
  const LocScope at(loc);
  std::vector<uint8_t> bytes(static_cast<size_t>(size()));
  read(Dtype::kBool, bytes.data(), 1);
  return std::vector<bool>(bytes.begin(), bytes.end());
}

template <Element T>
Array array(std::span<const T> values, const Shape& shape, Dtype dtype, Loc loc) {
  return internal::from_list(values, shape, dtype, loc);
}
template <Element T>
Array array(const std::vector<T>& values, const Shape& shape, Dtype dtype, Loc loc) {
  return internal::from_vector(values, shape, dtype, loc);
}
template <internal::ElementRange R>
Array array(const R& values, const Shape& shape, Dtype dtype, Loc loc) {
  using T = std::ranges::range_value_t<const R&>;
  return internal::from_list(
      std::span<const T>(std::ranges::data(values), std::ranges::size(values)), shape, dtype, loc);
}
template <internal::ElementRange R>
Array array(const R& values, Loc loc) {
  return array(values, Shape{std::ranges::size(values)}, internal::kDtypeOfRange<R>, loc);
}
template <Element T>
Array array(const std::vector<std::vector<T>>& rows, Dtype dtype, Loc loc) {
  const size_t columns = rows.empty() ? 0 : rows[0].size();
  return internal::from_vector(internal::in_one<T>(rows, loc), Shape{rows.size(), columns}, dtype,
                               loc);
}
template <Element T>
Array array(std::initializer_list<T> values, const Shape& shape, Dtype dtype, Loc loc) {
  return internal::from_list(std::span<const T>(values), shape, dtype, loc);
}
template <Element T>
Array array(const std::vector<T>& values, Loc loc) {
  return array(values, dtype_of<T>(), loc);
}
template <Element T>
Array array(const std::vector<T>& values, std::same_as<Dtype> auto dtype, Loc loc) {
  return internal::from_vector(values, Shape{static_cast<int64_t>(values.size())}, dtype, loc);
}
template <Element T>
Array array(std::initializer_list<T> values, Loc loc) {
  return array(values, dtype_of_literal<T>(), loc);
}
template <Element T>
Array array(std::initializer_list<T> values, std::same_as<Dtype> auto dtype, Loc loc) {
  return array(values, Shape{static_cast<int64_t>(values.size())}, dtype, loc);
}
template <Element T>
Array array(std::initializer_list<std::initializer_list<T>> values, Dtype dtype, Loc loc) {
  const auto n = static_cast<int64_t>(values.size());
  // {} converts to a list of any depth; as many axes as there are braces, as in NumPy.
  return internal::from_vector(internal::in_one<T>(values, loc),
                               n == 0 ? Shape{0} : Shape{n, values.begin()->size()}, dtype, loc);
}
template <Element T>
Array array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
            Dtype dtype, Loc loc) {
  const auto n = static_cast<int64_t>(values.size());
  const size_t rows = n == 0 ? 0 : values.begin()->size();
  const size_t columns = rows == 0 ? 0 : values.begin()->begin()->size();
  std::vector<T> flat;
  for (const auto& plane : values) {
    if (plane.size() != rows) internal::throw_ragged(rows, plane.size(), loc);
    for (const auto& row : plane) {
      if (row.size() != columns) internal::throw_ragged(columns, row.size(), loc);
      flat.insert(flat.end(), row.begin(), row.end());
    }
  }
  Shape shape{n};
  if (n > 0) shape.push_back(static_cast<int64_t>(rows));
  if (rows > 0) shape.push_back(static_cast<int64_t>(columns));
  return internal::from_vector(flat, shape, dtype, loc);
}
template <Element T>
Array array(T value, Dtype dtype) {
  return internal::from_host(dtype_of<T>(), &value, 1, Shape{}, dtype, Loc::none());
}

}  // namespace spruce
