// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification with its forward probabilities, after Optax.
#pragma once

#include "spruce/nn/loss.h"

namespace spruce::nn {

/// Options of ctc_loss_with_forward_probs.
struct CtcForwardOptions {
  int64_t blank_id = 0;       ///< the class of the blank label
  double log_epsilon = -1e5;  ///< the logarithm that stands for a probability of 0
};
/// What ctc_loss_with_forward_probs gives; a tree.
struct CtcForward {
  Array losses;           ///< f[n]: the negative log-probability of each label sequence
  Array log_alpha_blank;  ///< f[t, n, s + 1]: of having shown the first s labels, a blank last
  Array log_alpha_label;  ///< f[t, n, s]: of having shown the first s labels, the last one now
};
/// ctc_loss of logits, with paddings in place of lengths, and the logarithms of the probabilities
/// of all beginnings of the label sequences after each step (Graves et al. 2006).
///
/// Shapes:  logits f[n, t, classes] (batches first, unlike ctc_loss), logit_paddings [n, t], labels
///          i[n, s], label_paddings [n, s]: 1 (or true) where a step or a label does not count,
///          behind those that do. f16 and bf16 are computed in f32.
/// Throws:  ShapeError, DtypeError; ValueError for a blank_id that is no class, IndexError for a
///          label that is known to be out of range (others give NaN, as in cross_entropy). A loss
///          is about -log_epsilon where the input is too short for its labels.
/// Grad:    of the losses and of both tables to the logits.
inline constexpr struct CtcLossWithForwardProbsFunction {
  CtcForward operator()(const Array& logits, const Array& logit_paddings, const Array& labels,
                        const Array& label_paddings, const CtcForwardOptions& options = {},
                        Loc loc = Loc::current()) const;
} ctc_loss_with_forward_probs{};

}  // namespace spruce::nn
