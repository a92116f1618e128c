// SPDX-License-Identifier: Apache-2.0
// Arrays over memory that the program has already.
#pragma once

#include <memory>
#include <vector>

#include "spruce/core/array.h"

namespace spruce {
namespace internal {

/// An array of that type over memory of the host, for array_view() and its kin, which `op` names.
Array view_memory(const char* op, const void* data, const Aval& aval,
                  std::shared_ptr<const void> owner);
/// Throws ValueError, naming `op`, where elements of the type bool are neither 0 nor 1.
void check_bools(const char* op, const Aval& aval, const void* data);
/// Throws ShapeError, naming `op`, unless `count` elements make up the shape.
void check_count(const char* op, size_t count, const Shape& shape, Dtype dtype);

}  // namespace internal

/// An array over the elements at `data`, in row-major order, without a copy. It and all that share
/// its memory (reshapes, copies of the handle, constants of compiled functions) hold `owner`; when
/// the last of them goes, on whatever thread, so does `owner`. A null owner says that the memory
/// outlives them all.
///
/// The memory must not change while one of them lives. Spruce never writes to it: an update in
/// place or a donated argument copies instead. It is on the CPU whatever the default device is.
///
/// Throws ShapeError for a negative size; ValueError where `data` is null and there are elements,
/// or is not aligned to an element, or holds a bool that is neither 0 nor 1 (they are looked at
/// once).
template <Element T>
Array array_view(const T* data, const Shape& shape, std::shared_ptr<const void> owner,
                 Loc loc = Loc::current()) {
  const LocScope at(loc);
  return internal::view_memory("array_view", data, {dtype_of<T>(), false, shape}, std::move(owner));
}

/// An array that takes the memory of a vector over: array_view(std::move(v), {64, 784}). Throws
/// ShapeError if the vector has another number of elements.
template <Element T>
requires(!std::is_same_v<T, bool>)  // std::vector<bool> holds bits
    Array array_view(std::vector<T>&& values, const Shape& shape, Loc loc = Loc::current()) {
  const LocScope at(loc);
  internal::check_count("array_view", values.size(), shape, dtype_of<T>());
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  return internal::view_memory("array_view", owner->data(), {dtype_of<T>(), false, shape}, owner);
}

}  // namespace spruce
