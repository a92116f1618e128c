// SPDX-License-Identifier: Apache-2.0
// The fully connected layer.
#pragma once

#include <optional>
#include <string_view>

#include "spruce/core/random/random.h"
#include "spruce/nn/factory.h"
#include "spruce/nn/initializer.h"

namespace spruce::nn {

/// x w^T + b.
///
/// Shapes:  x f[..., in], w f[out, in], b f[out] or undefined -> f[..., out]
/// Throws:  ShapeError, naming both, where they do not fit.
inline constexpr struct LinearFunction {
  Array operator()(const Array& x, const Array& weight, const Array& bias = {},
                   Loc loc = Loc::current()) const;
} linear{};

/// Options of Linear and dense.
struct LinearOptions {
  bool bias = true;           ///< whether there is one
  Dtype dtype = float32;      ///< of the parameters
  Device* device = nullptr;   ///< where they are made; null: the default device
  init::LayerInit init = {};  ///< how they begin, if not as PyTorch's
};

/// Fully connected layer: f[..., in] -> f[..., out].
///
/// Parameters: weight f32[out, in], bias f32[out].
/// State:      none.
struct Linear {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "in_features=weight.1 out_features=weight.0 bias?bias";

  Array weight;               ///< f32[out, in]
  std::optional<Array> bias;  ///< f32[out]

  /// Weight and bias uniform in +-1/sqrt(in), from the first and second of split(key), as PyTorch's
  /// default. Throws ShapeError for negative sizes.
  static Linear init(const Key& key, int64_t in, int64_t out, const LinearOptions& options = {},
                     Loc loc = Loc::current());

  /// f[..., in] -> f[..., out]. Throws as linear().
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// A factory of Linear layers with `out` outputs; the input size is that of the last axis of the
/// example.
inline auto dense(int64_t out, LinearOptions options = {}) {
  return LayerFactory([out, options](const Key& key, const Array& x) {
    return Linear::init(key, x.shape(-1), out, options);
  });
}

}  // namespace spruce::nn
