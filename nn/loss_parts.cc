// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/loss_parts.h"

#include <limits>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn::internal {

Array reduced(const Array& losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::kMean:
      return mean(losses);
    case Reduction::kSum:
      return sum(losses);
    case Reduction::kBatchMean:
      throw ValueError("loss: Reduction::kBatchMean is of kl_div only; use kMean, kSum or kNone");
    default:
      return losses;
  }
}

Array elements_that_count(const char* op, const Array& where, const Array& input) {
  if (!where.defined()) return ones(input.shape(), bool_);
  require_broadcast(op, "where", where, input);
  if (where.dtype() != bool_) {
    throw DtypeError(std::string(op) + ": where is " + to_string(where.aval()) +
                     ", it must be bool: compare the array with something");
  }
  return broadcast_to(where, input.shape());
}

Array masked_log_softmax(const Array& input, const AxisArg& axis, const Array& counts) {
  const Array x = where(counts, input, 0);
  // Where nothing counts there is a sum all the same.
  const Array seen = counts | logical_not(any(counts, axis, {.keepdims = true}));
  const Array sums =
      logsumexp(where(seen, x, -std::numeric_limits<double>::infinity()), axis, {.keepdims = true});
  return where(counts, x - sums, 0);
}

NanOutsideParams class_range(const char* op, int64_t classes, Dtype dtype) {
  return {op, "the target holds class", "the input has classes 0.." + std::to_string(classes - 1),
          classes, dtype};
}

void require_floating(const char* op, const Array& input) {
  if (!is_floating(input.dtype())) {
    throw DtypeError(std::string(op) + ": the input must be floating, got " +
                     to_string(input.aval()) + "; convert with astype");
  }
}

void require_same_shape(const char* op, const Array& input, const Array& target,
                        const char* input_name, const char* target_name) {
  spruce::internal::require_defined(op, input_name, input, target_name, target);
  require_floating(op, input);
  if (!(input.shape() == target.shape())) {
    throw ShapeError(std::string(op) + ": " + input_name + " is " + to_string(input.aval()) + ", " +
                     target_name + " is " + to_string(target.aval()) +
                     "; they must have one shape (broadcasting here is nearly always a mistake)");
  }
}

void require_broadcast(const char* op, const char* name, const Array& given, const Array& input) {
  const int lead = input.rank() - given.rank();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < given.rank(); ++i)
    fits = given.shape()[i] == 1 || given.shape()[i] == input.shape()[lead + i];
  if (!fits) {
    throw ShapeError(std::string(op) + ": " + name + " is " + to_string(given.aval()) +
                     ", it must broadcast to the input, which is " + to_string(input.aval()));
  }
}

}  // namespace spruce::nn::internal
