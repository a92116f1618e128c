// SPDX-License-Identifier: Apache-2.0
// HostSpan: the elements of an array, in memory that it keeps.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <utility>

#include "spruce/core/buffer.h"

namespace spruce {

/// A std::span<const T> that shares the memory it shows. As long as one of its copies lives, the
/// memory is neither given up nor written to: what would reuse it takes other memory.
///
/// It goes wherever a std::span<const T> goes. That span, pointers and iterators do not keep the
/// memory: they are good as long as a HostSpan, or an Array that is not moved from, holds it.
template <class T>
class HostSpan : public std::span<const T> {
  using Base = std::span<const T>;

 public:
  /// No elements.
  HostSpan() = default;
  /// Of the library: the first `size` elements of memory that the host reads, an array's own or a
  /// copy of it.
  HostSpan(Ref<internal::Buffer> memory, size_t size)
      : Base(static_cast<const T*>(memory->data()), size), memory_(std::move(memory)) {}
  HostSpan(const HostSpan&) = default;
  /// Leaves the other one without elements.
  HostSpan(HostSpan&& o) noexcept
      : Base(std::exchange(static_cast<Base&>(o), Base())), memory_(std::move(o.memory_)) {}
  ~HostSpan() = default;
  /// Shows, and shares, what `o` does.
  HostSpan& operator=(HostSpan o) noexcept {
    std::swap(static_cast<Base&>(*this), static_cast<Base&>(o));
    std::swap(memory_, o.memory_);
    return *this;
  }

  /// The first n elements, which share the memory too; n is at most size(), as in std::span.
  HostSpan first(size_t n) const { return {memory_, Base::first(n)}; }
  /// The last n elements, as first().
  HostSpan last(size_t n) const { return {memory_, Base::last(n)}; }
  /// The elements from `offset`: n of them, or all that follow; as first().
  HostSpan subspan(size_t offset, size_t n = std::dynamic_extent) const {
    return {memory_, Base::subspan(offset, n)};
  }

 private:
  HostSpan(Ref<internal::Buffer> memory, Base elements)
      : Base(elements), memory_(std::move(memory)) {}

  Ref<internal::Buffer> memory_;
};

}  // namespace spruce

// Doxygen does not know specializations of variables.
/// @cond
// A copy costs what a copy of a pointer costs, so that adaptors of ranges take it by value.
template <class T>
inline constexpr bool std::ranges::enable_view<spruce::HostSpan<T>> = true;
/// @endcond
