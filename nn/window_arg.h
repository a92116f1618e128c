// SPDX-License-Identifier: Apache-2.0
// Sizes for each spatial axis.
#pragma once

#include <concepts>
#include <string>

#include "spruce/core/shape.h"
#include "spruce/core/tree/walk.h"
#include "spruce/nn/holds_arrays.h"

namespace spruce::nn {

/// One number for all spatial axes, or one for each: 3, or {3, 5}.
class WindowArg {
 public:
  /// The same number for every spatial axis.
  template <std::integral T>
  constexpr WindowArg(T all) : values_{static_cast<int64_t>(all)}, single_(true) {}
  /// One number for each spatial axis, in the order of the axes.
  constexpr WindowArg(std::initializer_list<ShapeEntry> each) : values_(each) {}
  /// The same from a list.
  constexpr WindowArg(const Shape& each) : values_(each) {}

  /// `rank` numbers, none below `least`. Throws ShapeError naming `op` and `what`, and how many are
  /// needed by `each`.
  Shape resolve(const char* op, const char* what, int rank, int64_t least,
                const char* each = "one for each spatial axis") const;
  /// True where nothing is given.
  bool empty() const { return values_.empty(); }

 private:
  friend struct TreeTraits<WindowArg>;

  Shape values_;
  bool single_ = false;
};

/// Padding of a convolution: numbers, or "same" (stride 1: the output has the size of the input; an
/// odd total puts the extra element at the end) or "valid" (none).
class PaddingArg {
 public:
  /// As many zeros before and behind each spatial axis.
  template <std::integral T>
  PaddingArg(T all) : values_(all) {}
  /// One number for each spatial axis, before and behind it.
  PaddingArg(std::initializer_list<ShapeEntry> each) : values_(each) {}
  /// "same" or "valid"; another name throws ValueError where it is used.
  PaddingArg(const char* name) : values_(0), name_(name) {}

  /// The numbers, unless there is a name.
  const WindowArg& values() const { return values_; }
  /// "same", "valid" or nothing.
  const std::string& name() const { return name_; }

 private:
  WindowArg values_;
  std::string name_;
};

namespace internal {
template <>
inline constexpr bool kStaticTree<WindowArg> = true;
}  // namespace internal

}  // namespace spruce::nn

namespace spruce {

/// Static in a tree: layers that hold one can stand in a model.
template <>
struct TreeTraits<nn::WindowArg> {
  static constexpr bool kDefined = true;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(std::string_view("values"), self.values_);
    visit(std::string_view("single"), self.single_);
  }
};

}  // namespace spruce
