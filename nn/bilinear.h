// SPDX-License-Identifier: Apache-2.0
// A layer that is linear in each of two inputs.
#pragma once

#include <optional>
#include <string_view>

#include "spruce/nn/linear.h"

namespace spruce::nn {

/// x1^T W x2 + b, with a matrix W for each output.
///
/// Shapes:  x1 f[..., in1], x2 f[..., in2] with the same leading axes, weight f[out, in1, in2],
/// bias
///          f[out] or undefined -> f[..., out]
/// Throws:  ShapeError, naming the shapes, where they do not fit.
inline constexpr struct BilinearFunction {
  Array operator()(const Array& x1, const Array& x2, const Array& weight, const Array& bias = {},
                   Loc loc = Loc::current()) const;
} bilinear{};

/// bilinear as a layer.
///
/// Parameters: weight f32[out, in1, in2], bias f32[out]; both uniform in +-1/sqrt(in1).
struct Bilinear {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "in1_features=weight.1 in2_features=weight.2 out_features=weight.0 bias?bias";

  Array weight;               ///< f32[out, in1, in2]
  std::optional<Array> bias;  ///< f32[out]

  /// Weight and bias from the first and second of split(key). Throws ShapeError for negative sizes.
  static Bilinear init(const Key& key, int64_t in1, int64_t in2, int64_t out,
                       const LinearOptions& options = {}, Loc loc = Loc::current());
  /// As bilinear().
  Array operator()(const Array& x1, const Array& x2, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
