// SPDX-License-Identifier: Apache-2.0
// Losses, in PyTorch's argument order and with its defaults. Each takes a single example without a
// batch axis too.
#pragma once

#include "spruce/core/array.h"

namespace spruce::nn {

/// How the losses of examples (or elements) become one number.
enum class Reduction {
  kMean,      ///< the mean
  kSum,       ///< the sum
  kNone,      ///< each on its own
  kBatchMean  ///< the sum divided by the size of axis 0; of kl_div only
};

/// Options of cross_entropy.
struct CrossEntropyOptions {
  Array weight = {};            ///< f[classes]: a weight for each class; undefined for ones
  int64_t ignore_index = -100;  ///< examples with this label count for nothing
  Reduction reduction = Reduction::kMean;  ///< the mean is weighted, over examples that are not
                                           ///< ignored; NaN if there is none
  double label_smoothing = 0;              ///< this share of each target is spread over all classes
};

/// Cross entropy of softmax(input) with class indices i[n, ...] or with probabilities of input's
/// shape.
///
/// Shapes:  input f[classes] with target i[] or f[classes];  input f[n, classes, d...] with target
/// i[n, d...] or f of
///          input's shape. Result: f[], with Reduction::kNone f[n, d...].
/// Throws:  ShapeError where the target does not fit; DtypeError for an input that is not floating;
///          IndexError for a class out of range. Under vmap and jit, where classes are not known,
///          the loss of that example is NaN, and so are its gradients.
inline constexpr struct CrossEntropyFunction {
  Array operator()(const Array& input, const Array& target, const CrossEntropyOptions& options = {},
                   Loc loc = Loc::current()) const;
} cross_entropy{};

/// Options of nll_loss, as those of cross_entropy.
struct NllOptions {
  Array weight = {};                       ///< a weight for each class
  int64_t ignore_index = -100;             ///< examples with this label count for nothing
  Reduction reduction = Reduction::kMean;  ///< weighted, over examples that are not ignored
};
/// The negative of the log-probability of the target class; shapes and errors as cross_entropy with
/// class indices, and so NaN for a class that is out of range and not known. The gradient of such
/// an example is NaN at one class, the nearest, and 0 at the others, which the loss does not read.
inline constexpr struct NllLossFunction {
  Array operator()(const Array& input, const Array& target, const NllOptions& options = {},
                   Loc loc = Loc::current()) const;
} nll_loss{};

/// Options of mse_loss and l1_loss.
struct LossOptions {
  Reduction reduction = Reduction::kMean;  ///< of the elements
};
/// (input - target)^2. Throws ShapeError unless both have one shape.
inline constexpr struct MseLossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} mse_loss{};
/// |input - target|.
inline constexpr struct L1LossFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} l1_loss{};

/// Options of huber_loss.
struct HuberOptions {
  Reduction reduction = Reduction::kMean;  ///< of the elements
  double delta = 1;                        ///< where the parabola ends and the line begins
};
/// d^2 / 2 for d = |input - target| up to delta, delta (d - delta / 2) beyond (Huber 1964). Throws
/// ShapeError unless both have one shape, ValueError unless delta is positive.
inline constexpr struct HuberLossFunction {
  Array operator()(const Array& input, const Array& target, const HuberOptions& options = {},
                   Loc loc = Loc::current()) const;
} huber_loss{};

/// log(cosh(input - target)): d^2 / 2 for small d, |d| - log 2 for large ones, without overflow
/// (Chen et al. 2019). After Optax, which gives Reduction::kNone. Throws ShapeError unless both
/// have one shape.
inline constexpr struct LogCoshFunction {
  Array operator()(const Array& input, const Array& target, const LossOptions& options = {},
                   Loc loc = Loc::current()) const;
} log_cosh{};

/// Options of smooth_l1_loss.
struct SmoothL1Options {
  Reduction reduction = Reduction::kMean;  ///< of the elements
  double beta = 1;  ///< where the parabola ends and the line begins; 0 is l1_loss
};
/// huber_loss with delta = beta, divided by beta: a slope of 1 beyond (Girshick 2015). Throws
/// ValueError for a negative beta.
inline constexpr struct SmoothL1LossFunction {
  Array operator()(const Array& input, const Array& target, const SmoothL1Options& options = {},
                   Loc loc = Loc::current()) const;
} smooth_l1_loss{};

/// Options of kl_div.
struct KlDivOptions {
  Reduction reduction = Reduction::kMean;  ///< of the elements; kBatchMean is the divergence itself
  bool log_target = false;                 ///< whether the target holds logarithms
};
/// The terms target (log target - input) of the Kullback-Leibler divergence of the target from the
/// distribution whose logarithms are the input; a target of 0 counts 0. Throws ShapeError unless
/// both have one shape.
inline constexpr struct KlDivFunction {
  Array operator()(const Array& input, const Array& target, const KlDivOptions& options = {},
                   Loc loc = Loc::current()) const;
} kl_div{};

/// Options of bce_with_logits.
struct BceOptions {
  Array weight = {};                       ///< broadcast against the elements
  Reduction reduction = Reduction::kMean;  ///< of the elements
  Array pos_weight = {};  ///< weight of the positive part, for each class (the last axis)
};
/// Binary cross entropy of sigmoid(input), without overflow.
inline constexpr struct BceWithLogitsFunction {
  Array operator()(const Array& input, const Array& target, const BceOptions& options = {},
                   Loc loc = Loc::current()) const;
} bce_with_logits{};
/// The same under PyTorch's long name.
inline constexpr struct BinaryCrossEntropyWithLogitsFunction {
  Array operator()(const Array& input, const Array& target, const BceOptions& options = {},
                   Loc loc = Loc::current()) const;
} binary_cross_entropy_with_logits{};

}  // namespace spruce::nn
