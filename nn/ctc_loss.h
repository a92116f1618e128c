// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification.
#pragma once

#include "spruce/nn/loss.h"

namespace spruce::nn {

/// Options of ctc_loss.
struct CtcOptions {
  int64_t blank = 0;                       ///< the class of the blank label
  Reduction reduction = Reduction::kMean;  ///< kMean divides each loss by the length of its target
                                           ///< (1 for an empty one) before it takes the mean
  bool zero_infinity = false;              ///< whether a loss that is infinite counts 0
};
/// The negative log-probability that a sequence of class distributions shows a target, over all
/// ways to repeat its labels and to put blanks between them (Graves et al. 2006).
///
/// Shapes:  log_probs f[t, n, classes], targets i[n, s] or one behind the other, i[all labels],
///          input_lengths and target_lengths i[n]; for one example f[t, classes], i[s], i[], i[].
///          Result f[], with Reduction::kNone f[n]; that of f16 and bf16 is computed in f32.
///          log_probs are as log_softmax gives them; of each example its first input_length steps
///          and target_length labels count.
/// Throws:  ShapeError, DtypeError; ValueError for a blank that is no class and for lengths that
///          are known to be out of range, or not to add up to the number of labels in one row
///          (NaN where they are not known). A loss is infinite where the input is too short for its
///          target.
/// Grad:    that of the sum over all alignments; 0 where the loss is infinite. (PyTorch's subtracts
///          exp(log_probs) from it, which log_softmax then takes away: behind log_softmax both are
///          the same.)
inline constexpr struct CtcLossFunction {
  Array operator()(const Array& log_probs, const Array& targets, const Array& input_lengths,
                   const Array& target_lengths, const CtcOptions& options = {},
                   Loc loc = Loc::current()) const;
} ctc_loss{};

}  // namespace spruce::nn
