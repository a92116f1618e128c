// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/ctc_forward.h"

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/nn/wide.h"
#include "spruce/transforms/control/loops/scan.h"

namespace spruce::nn {
namespace {

constexpr const char* kForwardName = "ctc_loss_with_forward_probs";

void check(const Array& logits, const Array& logit_paddings, const Array& labels,
           const Array& label_paddings, int64_t blank) {
  spruce::internal::require_defined(kForwardName, "logits", logits, "logit_paddings",
                                    logit_paddings, "labels", labels, "label_paddings",
                                    label_paddings);
  internal::require_floating(kForwardName, logits);
  if (!is_integer(labels.dtype())) {
    throw DtypeError(std::string(kForwardName) + ": labels must be integers, got " +
                     to_string(labels.aval()) + "; convert with astype(labels, int32)");
  }
  const bool fits = logits.rank() == 3 && labels.rank() == 2 && logits.shape()[1] > 0 &&
                    labels.shape()[0] == logits.shape()[0] &&
                    logit_paddings.shape() == Shape{logits.shape()[0], logits.shape()[1]} &&
                    label_paddings.shape() == labels.shape();
  if (!fits) {
    throw ShapeError(std::string(kForwardName) + ": logits is " + to_string(logits.aval()) +
                     ", labels is " + to_string(labels.aval()) + ", the paddings are " +
                     to_string(logit_paddings.aval()) + " and " + to_string(label_paddings.aval()) +
                     "; they must be f[n, t, classes], i[n, s], [n, t] and [n, s]");
  }
  if (blank < 0 || blank >= logits.shape()[2]) {
    throw ValueError(std::string(kForwardName) + ": blank_id is " + std::to_string(blank) +
                     ", the logits have classes 0.." + std::to_string(logits.shape()[2] - 1));
  }
}

// The way from a label to the blank behind it: f[n, s + 1] and f[n, s].
Array with_labels(const Array& blank, const Array& label) {
  return concatenate(
      {blank[{slice(), slice(1)}], logaddexp(blank[{slice(), slice(1, none)}], label)}, 1);
}

}  // namespace

CtcForward CtcLossWithForwardProbsFunction::operator()(const Array& logits,
                                                       const Array& logit_paddings,
                                                       const Array& labels,
                                                       const Array& label_paddings,
                                                       const CtcForwardOptions& o, Loc loc) const {
  const OpScope at(kForwardName, loc);
  const spruce::internal::SameDevice here(logits);
  check(logits, logit_paddings, labels, label_paddings, o.blank_id);
  const Array x = internal::wide(logits);
  const Dtype dtype = x.dtype();
  const int64_t n = labels.shape()[0], s = labels.shape()[1], steps = logits.shape()[1],
                classes = logits.shape()[2];
  const Array padded = label_paddings != 0;
  const NanOutsideParams range{kForwardName, "the labels hold class",
                               "the logits have classes 0.." + std::to_string(classes - 1), classes,
                               dtype};
  const Array counted = where(padded, 0, labels);
  check_known(counted, range);
  const Array index = spruce::clip(widened(labels, classes), 0, classes - 1);

  const Array logs = swapaxes(log_softmax(x), 0, 1);  // f[t, n, classes]
  const Array blanks = logs[{slice(), slice(), slice(o.blank_id, o.blank_id + 1)}];
  const Array shown = rules::take_along(logs, broadcast_to(index, {steps, n, s}), 2);
  // A label can follow the same one behind a blank only.
  Array again = zeros({n, s}, bool_);
  if (s > 1) {
    const Array same = labels[{slice(), slice(s - 1)}] == labels[{slice(), slice(1, none)}];
    again = concatenate({same, zeros({n, 1}, bool_)}, 1);
  }
  const Array unless_again = where(again, o.log_epsilon, 0.0).astype(dtype),
              if_again = where(again, 0.0, o.log_epsilon).astype(dtype);
  const Array never = full({n, s}, o.log_epsilon, dtype);
  using Tables = std::pair<Array, Array>;  // blank last f[n, s + 1], label last f[n, s]
  const auto step = [&](const Tables& before, const std::tuple<Array, Array, Array>& now) {
    const auto& [label, blank, padding] = now;
    const Array reached = with_labels(before.first, before.second + unless_again);
    const Array next_label = logaddexp(reached[{slice(), slice(s)}], before.second) + label;
    const Array next_blank = with_labels(reached + blank, before.second + blank + if_again);
    const Array skip = expand_dims(padding != 0, -1);
    const Tables next{where(skip, before.first, next_blank),
                      where(skip, before.second, next_label)};
    return std::pair{next, next};
  };
  const Tables start{concatenate({zeros({n, 1}, dtype), never}, 1), never};
  const auto [last, all] =
      scan(step, start, std::tuple{shown, blanks, swapaxes(logit_paddings, 0, 1)});
  const Array ends = with_labels(last.first, last.second);
  const Array length = expand_dims(s - count_nonzero(padded, 1), -1);
  Array losses = -squeeze(rules::take_along(ends, length, 1), -1);
  if (!has_known_values(counted))
    losses = losses * prod(nan_outside(widened(counted, classes), range), 1);
  const Array blank_last = concatenate({all.first[slice(steps - 1)], expand_dims(ends, 0)}, 0);
  const auto as_given = [&](const Array& y) { return internal::narrow(y, logits.dtype()); };
  return {as_given(losses), as_given(blank_last), as_given(all.second)};
}

}  // namespace spruce::nn
