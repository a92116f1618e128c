// SPDX-License-Identifier: Apache-2.0
// Encodings of positions: sinusoidal, learned, rotary.
#pragma once

#include <string_view>

#include "spruce/nn/factory.h"
#include "spruce/nn/initializer.h"

namespace spruce::nn {

/// Options of sinusoidal_encoding.
struct SinusoidalOptions {
  double base = 10000;    ///< the longest wave has a length of 2 pi times nearly this
  Dtype dtype = float32;  ///< of the result
};
/// Sines and cosines of the positions (Vaswani et al. 2017): element 2 i of row p is
/// sin(p / base^(2 i / d)), element 2 i + 1 the cosine of the same.
///
/// Shapes:  -> f[length, d]
/// Throws:  ShapeError for a negative length or d, ValueError for a base that is not positive.
inline constexpr struct SinusoidalEncodingFunction {
  Array operator()(int64_t length, int64_t d, const SinusoidalOptions& options = {},
                   Loc loc = Loc::current()) const;
} sinusoidal_encoding{};

/// Options of rotary_embedding.
struct RotaryOptions {
  Array positions = {};      ///< of the steps, numbers [t] or [..., t]; undefined for 0, 1, ...
  double base = 10000;       ///< as in SinusoidalOptions
  bool interleaved = false;  ///< pairs are elements 2 i and 2 i + 1, as in the paper; else i and
                             ///< i + d / 2, as in Llama
};
/// Turns pairs of elements of queries and keys by an angle that grows with the position (Su et al.
/// 2021), so that scores depend on distances alone: pair i of step p by p / base^(2 i / d).
///
/// Shapes:  x f[..., t, d], d even -> the same
/// Throws:  ShapeError for an odd d, a rank below 2 and positions that do not broadcast with
///          [..., t]; ValueError for a base that is not positive; DtypeError unless x is floating.
/// Grad:    turned back.
inline constexpr struct RotaryEmbeddingFunction {
  Array operator()(const Array& x, const RotaryOptions& options = {},
                   Loc loc = Loc::current()) const;
} rotary_embedding{};

/// Adds sinusoidal_encoding to f[..., t, e].
struct SinusoidalPositions {
  double base = 10000;  ///< as in SinusoidalOptions

  /// x plus the encoding of steps 0, 1, ... Throws ShapeError for a rank below 2.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

/// Options of LearnedPositions.
struct LearnedPositionsOptions {
  Dtype dtype = float32;      ///< of the table
  Device* device = nullptr;   ///< where they are made; null: the default device
  init::LayerInit init = {};  ///< how it begins, if not normal with deviation 0.02
};
/// Adds a vector for each position, which is learned, to f[..., t, e].
///
/// Parameters: weight f32[max_length, e].
struct LearnedPositions {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = "max_length=weight.0 d=weight.1";

  Array weight;  ///< one vector for each position

  /// Normal with deviation 0.02, as in GPT-2. Throws ShapeError for negative sizes.
  static LearnedPositions init(const Key& key, int64_t max_length, int64_t d,
                               const LearnedPositionsOptions& options = {},
                               Loc loc = Loc::current());
  /// x plus the first t rows. Throws ShapeError for another e, and for a t above max_length.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
