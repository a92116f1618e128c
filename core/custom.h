// SPDX-License-Identifier: Apache-2.0
// Functions with derivative rules of the user's own, as the interpreters see them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce {

/// What graphs and messages say of functions with a rule of their own.
struct RuleKind {
  const char* name;    ///< "custom_jvp", "custom_vjp", "custom_root"
  const char* advice;  ///< how they get at a traced value, which they must not capture
};

/// A function of flat arrays that brings its own derivative. All methods run under the current
/// interpreter.
class CustomFunction {
 public:
  virtual ~CustomFunction() = default;
  /// The function itself.
  virtual std::vector<Array> call(std::span<const Array> in) const = 0;
  /// Value and tangents; undefined tangents are zero, at least one is defined. Fills vectors of one
  /// length.
  virtual void jvp(std::span<const Array> in, std::span<const Array> tangents,
                   std::vector<Array>& out, std::vector<Array>& out_tangents) const = 0;
  /// The function over a mapped axis: takes the inputs with `batched` in front-axis form and
  /// returns all outputs in that form.
  virtual std::shared_ptr<const CustomFunction> batch(int64_t size,
                                                      std::vector<bool> batched) const = 0;
  /// For graphs and messages.
  virtual const RuleKind& kind() const = 0;
};

/// Applies it under the current interpreter, which chooses between the function and its rule.
std::vector<Array> bind_custom(const std::shared_ptr<const CustomFunction>& f,
                               std::span<const Array> in);

}  // namespace spruce
