// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/segmentation_losses.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/nn/wide.h"

namespace spruce::nn {

using internal::narrow, internal::reduced, internal::require_same_shape, internal::wide;

namespace {

// Throws unless input and target are f[n, ...] of at least that rank.
void check(const char* op, const Array& input, const Array& target, double smooth, int least) {
  require_same_shape(op, input, target);
  spruce::internal::check_range(op, "smooth", smooth, spruce::internal::Range::kNotNegative);
  if (input.rank() >= least) return;
  throw ShapeError(
      std::string(op) + ": takes " + (least == 1 ? "f[n, ...]" : "f[n, ..., classes]") + ", got " +
      to_string(input.aval()) + "; give one example a first axis by expand_dims(x, 0)");
}

// 1 - dice of f[n, elements, classes]: f[n, classes].
Array dice(const Array& p, const Array& target, double smooth) {
  const Array both = sum(p * target, 1), all = sum(p, 1) + sum(target, 1);
  return 1 - (both + smooth) / (0.5 * all + smooth);
}

}  // namespace

Array BinaryDiceLossFunction::operator()(const Array& input, const Array& target,
                                         const BinaryDiceOptions& o, Loc loc) const {
  const OpScope at("binary_dice_loss", loc);
  check("binary_dice_loss", input, target, o.smooth, 1);
  const int64_t n = input.shape()[0], each = n == 0 ? 0 : input.size() / n;
  const Array x = wide(input), p = o.apply_sigmoid ? nn::sigmoid(x) : x;
  const auto in_rows = [&](const Array& a) { return reshape(a, {n, each, 1}); };
  const Array losses = dice(in_rows(p), in_rows(astype(target, x.dtype())), o.smooth);
  return narrow(reduced(squeeze(losses, -1), o.reduction), input.dtype());
}

Array MulticlassGeneralizedDiceLossFunction::operator()(const Array& input, const Array& target,
                                                        const GeneralizedDiceOptions& o,
                                                        Loc loc) const {
  const char* name = "multiclass_generalized_dice_loss";
  const OpScope at(name, loc);
  check(name, input, target, o.smooth, 2);
  const int64_t n = input.shape()[0], classes = input.shape().back(),
                each = input.size() == 0 ? 0 : input.size() / (n * classes);
  Array p = wide(input);
  if (o.apply_softmax) p = classes == 1 ? nn::sigmoid(p) : softmax(p);
  const auto in_rows = [&](const Array& x) { return reshape(x, {n, each, classes}); };
  const Array t = in_rows(astype(target, p.dtype()));
  const Array weights = 1 / (square(sum(t, {0, 1})) + 1e-7);
  Array losses = dice(in_rows(p), t, o.smooth) * (weights / mean(weights));
  if (o.ignore_background && classes > 1) losses = losses[{slice(), slice(1, none)}];
  return narrow(mean(losses), input.dtype());
}

}  // namespace spruce::nn
