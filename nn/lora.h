// SPDX-License-Identifier: Apache-2.0
// Low-rank adaptation of a linear layer.
#pragma once

#include <string_view>

#include "spruce/nn/linear.h"

namespace spruce::nn {

/// Options of LoRA.
struct LoRAOptions {
  int64_t r = 8;              ///< rank of the change
  double alpha = 8;           ///< the change is scaled by alpha / r
  float dropout = 0;          ///< of the input of the change, in training
  init::LayerInit init = {};  ///< .weight: how lora_A begins, if not as below
};

/// A linear layer that is kept, plus a change of low rank that is learned (Hu et al. 2022):
///   base(x) + alpha / r lora_B lora_A x
/// No gradient reaches base, so that it stays as it is under every optimizer that leaves what has
/// a gradient of zero alone; weight decay does not: mask it there.
///
/// Parameters: base a Linear from in to out, lora_A f32[r, in], lora_B f32[out, r].
struct LoRA {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = "r=lora_A.0";

  Linear base;        ///< as it was
  Array lora_A;       ///< f32[r, in]
  Array lora_B;       ///< f32[out, r], zeros at first: the layer begins as base
  double scale = 1;   ///< alpha / r
  float dropout = 0;  ///< of the input of the change, in training

  /// lora_A uniform in +-1/sqrt(in), lora_B zeros, in the dtype of the base. Throws ValueError for
  /// an r below 1 and for a dropout outside of 0..1.
  static LoRA init(const Key& key, const Linear& base, const LoRAOptions& options = {},
                   Loc loc = Loc::current());

  /// f[..., in] -> f[..., out], in evaluation mode. Throws as linear().
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
  /// In training the context gives the key for dropout.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const;

  /// One Linear that does the same in evaluation mode.
  Linear merged(Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
