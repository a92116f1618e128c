// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/activations.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/core/rules/gelu.h"
#include "spruce/nn/axis_option.h"
#include "spruce/transforms/compile/elementwise.h"
#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce {

extern const Primitive relu_p, silu_p, softplus_p, softmax_p, log_softmax_p;

namespace nn {
namespace {

using spruce::internal::check_range, spruce::internal::Range;

Array floating(const Array& x) { return is_floating(x.dtype()) ? x : astype(x, float32); }

// softmax, or its logarithm, along an axis that is not the last, in f32 where x is a 16-bit float.
Array over_columns(bool log, const Array& given, int axis) {
  const bool narrow = is_half(given.dtype());
  const Array x = narrow ? astype(given, float32) : given;
  const Array below = x - stop_gradient(max(x, axis, {.keepdims = true}));
  const Array e = exp(below), total = sum(e, axis, {.keepdims = true});
  const Array y = log ? below - spruce::log(total) : e / total;
  return narrow ? astype(y, given.dtype()) : y;
}

// `f` along an axis, by a primitive that works along the last one.
Array along(const Primitive& p, const char* op, const Array& input, const SoftmaxOptions& options) {
  const Array x = floating(input);
  if (x.rank() == 0) return bind1(p, {x.reshape({1})}).reshape({});
  const int axis =
      normalize_axis(op, internal::axis_option(op, options.axis, options.dim), x.rank());
  if (axis == x.rank() - 1) return bind1(p, {x});
  constexpr int64_t kFewest = 16;  // elements behind the axis that are worth vectors
  if (row_major_strides(x.shape())[axis] >= kFewest && x.size() > 0)
    return over_columns(&p == &log_softmax_p, x, axis);
  return moveaxis(bind1(p, {moveaxis(x, axis, -1)}), -1, axis);
}

// x where it is positive, and y(x) elsewhere; y gets no x that is positive, on the side that is not
// taken there is no infinity. With the whole gradient at 0 from below.
template <class Y>
Array unless_positive(const Array& x, const Y& y) {
  const Array above = x > 0;
  return where(above, x, y(where(above, 0, x)));
}

}  // namespace

namespace internal {

Array relu(const Array& x) {
  const OpScope at("relu");
  return bind1(relu_p, {x});
}
Array silu(const Array& x) {
  const OpScope at("silu");
  return bind1(silu_p, {floating(x)});
}
Array mish(const Array& x) {
  const OpScope at("mish");
  return x * spruce::tanh(nn::softplus(x));
}

// The gradient at the edges is 0, unlike that of clip.
Array relu6(const Array& x) {
  const OpScope at("relu6");
  return nn::hardtanh(x, {0.0f, 6.0f});
}

Array selu(const Array& x) {
  const OpScope at("selu");
  constexpr double kAlpha = 1.6732632423543772848170429916717,
                   kScale = 1.0507009873554804934193349852946;
  static const auto& f =
      *new auto(elementwise([](const Array& v, const Array& alpha, const Array& scale) {
        return scale * unless_positive(v, [&](const Array& below) { return alpha * expm1(below); });
      }));
  return f(floating(x), kAlpha, kScale);
}

Array hardsigmoid(const Array& x) {
  const OpScope at("hardsigmoid");
  return nn::hardtanh(x + 3, {0.0f, 6.0f}) / 6;
}
Array hardswish(const Array& x) {
  const OpScope at("hardswish");
  return x * hardsigmoid(x);
}
Array softsign(const Array& x) {
  const OpScope at("softsign");
  return x / (1 + abs(x));
}
Array logsigmoid(const Array& x) {
  const OpScope at("logsigmoid");
  return -bind1(softplus_p, {-floating(x)});
}
Array log_sigmoid(const Array& x) {
  const OpScope at("log_sigmoid");
  return logsigmoid(x);
}
Array tanhshrink(const Array& x) {
  const OpScope at("tanhshrink");
  return x - spruce::tanh(x);
}

}  // namespace internal

Array Gelu::operator()(const Array& x, const GeluOptions& options, Loc loc) const {
  const OpScope at("gelu", loc);
  return bind1(gelu_p, {floating(x)},
               Params::make(GeluParams{options.approximate == GeluApproximation::kTanh}));
}

Array Elu::operator()(const Array& x, const EluOptions& options, Loc loc) const {
  const OpScope at("elu", loc);
  static const auto& f = *new auto(elementwise([](const Array& v, const Array& alpha) {
    return unless_positive(v, [&](const Array& below) { return alpha * expm1(below); });
  }));
  return f(floating(x), options.alpha);
}

Array Celu::operator()(const Array& x, const EluOptions& options, Loc loc) const {
  const OpScope at("celu", loc);
  if (options.alpha == 0) throw ValueError("celu: alpha is 0, it must be another number");
  static const auto& f = *new auto(elementwise([](const Array& v, const Array& alpha) {
    return unless_positive(v, [&](const Array& below) { return alpha * expm1(below / alpha); });
  }));
  return f(floating(x), options.alpha);
}

Array LeakyRelu::operator()(const Array& x, const LeakyReluOptions& options, Loc loc) const {
  const OpScope at("leaky_relu", loc);
  return where(x > 0, x, options.negative_slope * x);
}

Array Hardtanh::operator()(const Array& x, const HardtanhOptions& options, Loc loc) const {
  const OpScope at("hardtanh", loc);
  if (!(options.min_val <= options.max_val)) {
    throw ValueError("hardtanh: min_val is " + spruce::internal::number_text(options.min_val) +
                     ", it must be at most max_val, which is " +
                     spruce::internal::number_text(options.max_val));
  }
  return where(x <= options.min_val, options.min_val,
               where(x >= options.max_val, options.max_val, x));
}

Array Softplus::operator()(const Array& x, const SoftplusOptions& options, Loc loc) const {
  const OpScope at("softplus", loc);
  check_range("softplus", "beta", options.beta, Range::kPositive);
  const Array f = floating(x);
  // Beyond 18 the function and its derivatives are those of x anyway, but for f64.
  if (options.beta == 1.0 && options.threshold >= 18.0 && f.dtype() != float64)
    return bind1(softplus_p, {f});
  const Array scaled = options.beta * f;
  return where(scaled > options.threshold, f, bind1(softplus_p, {scaled}) / options.beta);
}

Array ThresholdFunction::operator()(const Array& x, double threshold, double value, Loc loc) const {
  const OpScope at("threshold", loc);
  return where(x <= threshold, value, x);
}

Array Hardshrink::operator()(const Array& x, const ShrinkOptions& options, Loc loc) const {
  const OpScope at("hardshrink", loc);
  check_range("hardshrink", "lambd", options.lambd, Range::kNotNegative);
  return where(abs(x) <= options.lambd, zeros_like(x), x);
}

Array Softshrink::operator()(const Array& x, const ShrinkOptions& options, Loc loc) const {
  const OpScope at("softshrink", loc);
  check_range("softshrink", "lambd", options.lambd, Range::kNotNegative);
  const Array moved = where(x > 0, x - options.lambd, x + options.lambd);
  return where(abs(x) <= options.lambd, zeros_like(x), moved);
}

Array Softmax::operator()(const Array& x, const SoftmaxOptions& options, Loc loc) const {
  const OpScope at("softmax", loc);
  return along(softmax_p, "softmax", x, options);
}

Array LogSoftmax::operator()(const Array& x, const SoftmaxOptions& options, Loc loc) const {
  const OpScope at("log_softmax", loc);
  return along(log_softmax_p, "log_softmax", x, options);
}

Array Softmin::operator()(const Array& x, const SoftmaxOptions& options, Loc loc) const {
  const OpScope at("softmin", loc);
  return along(softmax_p, "softmin", -x, options);
}

Array Glu::operator()(const Array& x, const SoftmaxOptions& options, Loc loc) const {
  const OpScope at("glu", loc);
  const int64_t given = internal::axis_option("glu", options.axis, options.dim);
  const int axis = normalize_axis("glu", given, x.rank());
  if (x.shape()[axis] % 2 != 0) {
    throw ShapeError("glu: axis " + std::to_string(given) + " of " + to_string(x.aval()) +
                     " has an odd size; it is cut in halves");
  }
  const std::vector<Array> halves = split(x, 2, axis);
  return halves[0] * logistic(halves[1]);
}

}  // namespace nn
}  // namespace spruce
