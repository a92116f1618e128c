// SPDX-License-Identifier: Apache-2.0
// What an optimizer was made for. Of the library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spruce/core/error.h"
#include "spruce/core/named_arrays.h"

namespace spruce::internal {

/// The names and shapes of arrays.
class NamedShapes {
 public:
  /// Of nothing.
  NamedShapes() = default;
  /// Of the arrays as they are now.
  explicit NamedShapes(const NamedArrays& arrays);

  /// f(), the update of an optimizer that was made for these parameters. Throws TreeError, naming
  /// `op` and how they differ, where f throws and `now` has other names or shapes.
  template <class F>
  auto guard(const char* op, const NamedArrays& now, const F& f) const {
    try {
      return f();
    } catch (const Error&) {
      check(op, now);
      throw;
    }
  }

 private:
  void check(const char* op, const NamedArrays& now) const;
  std::vector<std::pair<std::string, Shape>> shapes_;
};

}  // namespace spruce::internal
