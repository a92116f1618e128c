// SPDX-License-Identifier: Apache-2.0
// A part of a factory while it runs: its path in keys and in errors. Of the library.
#pragma once

#include <string>

#include "spruce/core/error_scope.h"
#include "spruce/nn/context.h"

namespace spruce::nn::internal {

/// While it lives, part `index` of `whole`, "sequential", runs: layers in it draw keys by a path
/// that begins with the number, and errors name it, with the name of its type.
class PartScope final : public spruce::internal::ErrorScope {
 public:
  PartScope(Context& ctx, const char* whole, size_t index, std::string (*name)());

  std::string whole() const override { return whole_; }
  std::string path(const std::string& around) const override;
  std::string type() const override;

 private:
  ObjectScope inside_;
  const char* whole_;
  size_t index_;
  std::string (*name_)();
};

}  // namespace spruce::nn::internal
