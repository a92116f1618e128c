// SPDX-License-Identifier: Apache-2.0
// What losses share: their checks, and how many numbers become one.
#pragma once

#include "spruce/core/axis_arg.h"
#include "spruce/core/rules/nan_outside.h"
#include "spruce/nn/loss.h"

namespace spruce::nn::internal {

/// The mean, the sum, or the losses themselves. Throws ValueError for Reduction::kBatchMean.
Array reduced(const Array& losses, Reduction reduction);
/// Throws DtypeError naming `op` unless the input is floating.
void require_floating(const char* op, const Array& input);
/// Throws ShapeError naming `op` and both unless input and target have one shape and the input is
/// floating.
void require_same_shape(const char* op, const Array& input, const Array& target,
                        const char* input_name = "input", const char* target_name = "target");
/// `where` with the input's shape, all true where it is undefined. Throws, naming `op`, ShapeError
/// unless it broadcasts to the input, DtypeError unless it is bool.
Array elements_that_count(const char* op, const Array& where, const Array& input);
/// log(softmax(input)) over the elements that count, bool of the input's shape; 0 at the others,
/// which may be infinite. No NaN reaches gradients, also where nothing counts along the axes.
Array masked_log_softmax(const Array& input, const AxisArg& axis, const Array& counts);
/// What is said of a target of class indices that holds others than 0..classes-1; the dtype is that
/// of the input.
NanOutsideParams class_range(const char* op, int64_t classes, Dtype dtype);
/// Throws ShapeError naming `op` unless `shape` broadcasts to that of the input: the weight of a
/// loss must not make it larger.
void require_broadcast(const char* op, const char* name, const Array& given, const Array& input);

}  // namespace spruce::nn::internal
