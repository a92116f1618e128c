// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/ctc_loss.h"

#include <algorithm>
#include <limits>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/loss_parts.h"
#include "spruce/nn/wide.h"
#include "spruce/transforms/control/loops/scan.h"

namespace spruce::nn {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void check_lengths(const char* name, const Array& lengths, int64_t most) {
  if (!may_be_within(lengths, 0, static_cast<double>(most))) {
    throw ValueError(std::string("ctc_loss: ") + name + " is " + to_string(lengths) +
                     ", lengths must be within 0.." + std::to_string(most));
  }
}

void check_types(const Array& log_probs, const Array& targets, const Array& input_lengths,
                 const Array& target_lengths, int64_t blank) {
  internal::require_floating("ctc_loss", log_probs);
  for (const Array* a : {&targets, &input_lengths, &target_lengths}) {
    if (!is_integer(a->dtype())) {
      throw DtypeError("ctc_loss: targets and lengths must be integers, got " +
                       to_string(a->aval()) + "; convert with astype");
    }
  }
  const bool fits = log_probs.rank() == 3 && targets.rank() == 2 &&
                    targets.shape()[0] == log_probs.shape()[1] &&
                    input_lengths.shape() == Shape{log_probs.shape()[1]} &&
                    target_lengths.shape() == input_lengths.shape();
  if (!fits) {
    throw ShapeError(
        "ctc_loss: log_probs is " + to_string(log_probs.aval()) + ", targets is " +
        to_string(targets.aval()) + ", the lengths are " + to_string(input_lengths.aval()) +
        " and " + to_string(target_lengths.aval()) +
        "; they must be f[t, n, classes], i[n, s] (or all labels in one row), i[n] and "
        "i[n], or for one example f[t, classes], i[s], i[] and i[]");
  }
  if (blank < 0 || blank >= log_probs.shape()[2]) {
    throw ValueError("ctc_loss: blank is " + std::to_string(blank) + ", log_probs has classes 0.." +
                     std::to_string(log_probs.shape()[2] - 1));
  }
  check_lengths("input_lengths", input_lengths, log_probs.shape()[0]);
  check_lengths("target_lengths", target_lengths, targets.shape()[1]);
}

// Targets that stand one behind the other, i[their sum], as i[n, s]. What is behind the end of each
// is any label; s is the longest target, or, where lengths are not known, what it may be.
Array in_rows(const Array& targets, const Array& lengths) {
  const int64_t labels = targets.size(), n = lengths.size();
  check_lengths("target_lengths", lengths, labels);
  int64_t longest = labels;
  if (has_known_values(lengths)) {
    int64_t sum = 0;
    longest = 0;
    visit_dtype(lengths.dtype(), [&]<class T>(T) {
      for (const T v : lengths.data<T>()) {
        const auto length = static_cast<int64_t>(static_cast<double>(v));
        sum += length;
        longest = std::max(longest, length);
      }
    });
    if (sum != labels) {
      throw ValueError("ctc_loss: targets is " + to_string(targets.aval()) +
                       ", target_lengths add up to " + std::to_string(sum) +
                       "; all labels in one row must be as many as the lengths say");
    }
  }
  if (longest == 0) return zeros({n, 0}, targets.dtype());
  const Array counts = astype(lengths, int32);
  const Array index = expand_dims(cumsum(counts, 0) - counts, 1) + arange(longest, int32);
  return take(targets, clip(index, 0, labels - 1), 0);
}

// x[..., i - by], minus infinity in front.
Array delayed(const Array& x, int64_t by) {
  const int64_t n = x.shape()[0], size = x.shape()[1];
  if (size <= by) return full({n, size}, kMinusInfinity, x.dtype());
  return concatenate({full({n, by}, kMinusInfinity, x.dtype()), x[{slice(), slice(size - by)}]}, 1);
}

// f[n] from f[t, n, classes], i[n, s], i[n], i[n].
Array losses_of(const Array& log_probs, const Array& targets, const Array& input_lengths,
                const Array& target_lengths, int64_t blank) {
  const int64_t steps = log_probs.shape()[0], n = targets.shape()[0], labels = targets.shape()[1],
                states = 2 * labels + 1;
  const Dtype dtype = log_probs.dtype();
  // blank, label, blank, label, ..., blank.
  const Array blanks = full({n, labels}, blank, int32);
  const Array pairs = reshape(stack({blanks, astype(targets, int32)}, 2), {n, 2 * labels});
  const Array path = concatenate({pairs, full({n, 1}, blank, int32)}, 1);
  // A label can follow another one directly where they differ; never a blank a blank.
  Array skips = zeros({n, states}, bool_);
  if (labels > 1) {
    const Array differ = (path[{slice(), slice(2, none)}] != path[{slice(), slice(states - 2)}]) &
                         (path[{slice(), slice(2, none)}] != blank);
    skips = concatenate({zeros({n, 2}, bool_), differ}, 1);
  }
  const Array emitted =
      rules::take_along(log_probs, broadcast_to(path, {steps, n, states}), 2);  // f[t, n, states]
  // Before the first step: in front of state 0, from where states 0 and 1 can be reached.
  const Array start =
      concatenate({zeros({n, 1}, dtype), full({n, states - 1}, kMinusInfinity, dtype)}, 1);
  const auto step = [skips, input_lengths](const Array& before,
                                           const std::pair<Array, Array>& now) {
    const auto& [probabilities, t] = now;
    const Array moves =
        stack({before, delayed(before, 1), where(skips, delayed(before, 2), kMinusInfinity)});
    const Array after = logsumexp(moves, 0) + probabilities;
    return std::pair{where(expand_dims(t < input_lengths, -1), after, before), none};
  };
  const Array last = scan(step, start, std::pair{emitted, arange(steps)}).first;
  // The end is the last label or the blank behind it.
  const Array end = expand_dims(2 * astype(target_lengths, int32), -1);
  const Array ends = concatenate({end, maximum(end - 1, 0)}, 1);
  const Array is_end = concatenate({end >= 0, end > 0}, 1);
  return -logsumexp(where(is_end, rules::take_along(last, ends, 1), kMinusInfinity), 1);
}

}  // namespace

Array CtcLossFunction::operator()(const Array& log_probs, const Array& targets,
                                  const Array& input_lengths, const Array& target_lengths,
                                  const CtcOptions& o, Loc loc) const {
  const OpScope at("ctc_loss", loc);
  const spruce::internal::SameDevice here(log_probs);
  spruce::internal::require_defined("ctc_loss", "log_probs", log_probs, "targets", targets,
                                    "input_lengths", input_lengths, "target_lengths",
                                    target_lengths);
  const bool single = log_probs.rank() == 2 && targets.rank() == 1 && input_lengths.rank() == 0 &&
                      target_lengths.rank() == 0;
  const bool joined = log_probs.rank() == 3 && targets.rank() == 1 && is_integer(targets.dtype()) &&
                      is_integer(target_lengths.dtype()) &&
                      target_lengths.shape() == Shape{log_probs.shape()[1]};
  const auto batched = [&](const Array& x, int axis) { return single ? expand_dims(x, axis) : x; };
  Array probabilities = batched(log_probs, 1);
  const Array labels = joined ? in_rows(targets, target_lengths) : batched(targets, 0),
              steps = batched(input_lengths, 0), lengths = batched(target_lengths, 0);
  check_types(probabilities, labels, steps, lengths, o.blank);
  probabilities = internal::wide(probabilities);
  const int64_t classes = probabilities.shape()[2];
  const Array counted =
      where(arange(labels.shape()[1]) < expand_dims(lengths, -1), labels, zeros_like(labels));
  const NanOutsideParams range{"ctc_loss", "the targets hold class",
                               "log_probs has classes 0.." + std::to_string(classes - 1), classes,
                               probabilities.dtype()};
  check_known(counted, range);
  Array losses = losses_of(probabilities, labels, steps, lengths, o.blank);
  if (!has_known_values(counted))
    losses = losses * prod(nan_outside(widened(counted, classes), range), 1);
  if (joined && !has_known_values(target_lengths)) {
    const Array fits = sum(astype(target_lengths, int32)) == targets.size();
    losses = where(fits, losses, std::numeric_limits<double>::quiet_NaN());
  }
  if (o.zero_infinity) losses = where(isinf(losses), 0, losses);
  if (o.reduction == Reduction::kMean)
    losses = losses / astype(maximum(lengths, 1), losses.dtype());
  return internal::narrow(internal::reduced(single ? squeeze(losses, 0) : losses, o.reduction),
                          log_probs.dtype());
}

}  // namespace spruce::nn
