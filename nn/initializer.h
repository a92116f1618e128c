// SPDX-License-Identifier: Apache-2.0
// The type of initialisers, and how a layer is told which ones to take.
#pragma once

#include <concepts>
#include <functional>
#include <string_view>

#include "spruce/core/random/random.h"

namespace spruce::nn::init {

/// Makes the first value of a parameter from a key, a shape and a dtype. Every function object or
/// lambda that takes these three is one: he_normal, orthogonal(), [](const Key&, const Shape&,
/// Dtype) {...}. One that holds no function is false.
class Initializer {
 public:
  /// Holds no function.
  Initializer() = default;
  /// Keeps a copy of `f`.
  template <class F>
  requires(!std::same_as<F, Initializer> &&
           std::is_invocable_r_v<Array, const F&, const Key&, const Shape&, Dtype>) Initializer(F f)
      : f_(std::move(f)) {}

  /// Whether it holds a function.
  explicit operator bool() const { return static_cast<bool>(f_); }
  /// The array. Throws ValueError without a function.
  Array operator()(const Key& key, const Shape& shape, Dtype dtype = float32,
                   Loc loc = Loc::current()) const;

 private:
  std::function<Array(const Key&, const Shape&, Dtype)> f_;
};

/// The option `.init` of layers: `{.init = nn::init::flax_v1}`, `{.init = {.weight =
/// nn::init::orthogonal()}}`. Each weight and each bias takes the key that the layer's default
/// would have taken. What is left out begins as the layer's default.
struct LayerInit {
  Initializer weight = {};     ///< of all weights of the layer
  Initializer bias = {};       ///< of all its biases
  std::string_view name = {};  ///< of a preset: what it gives never changes under this name
};

namespace internal {
/// `chosen` where there is one, called, or else what `otherwise` gives.
template <class Default>
Array first_value(const Initializer& chosen, const Key& key, const Shape& shape, Dtype dtype,
                  const Default& otherwise) {
  return chosen ? chosen(key, shape, dtype) : otherwise();
}
/// The same with uniform_fan_in as what is taken otherwise.
Array first_value(const Initializer& chosen, const Key& key, const Shape& shape, int64_t fan_in,
                  Dtype dtype);
}  // namespace internal
}  // namespace spruce::nn::init
