// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/norm.h"

#include <cmath>
#include <string>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/decompositions.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/reduction_parts.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

using rules::convert;
using rules::scalar_of;
using Kind = NormOrder::Kind;

// sqrt and other roots, with derivative 0 at 0.
template <class Root>
Array rooted(const Array& s, const Root& root) {
  const Array zero = scalar_of(s.dtype(), 0), at_zero = equal(s, zero);
  return where(at_zero, zero, root(where(at_zero, scalar_of(s.dtype(), 1), s)));
}

Array euclidean(const Array& x, const Axes& axes, const ReduceOptions& kept) {
  return rooted(sum(x * x, axes, kept), sqrt);
}

// The largest or the smallest; 0 is the largest of nothing.
Array extreme(const Array& x, const Axes& axes, bool largest, const ReduceOptions& kept) {
  bool empty = false;
  for (const int64_t axis : axes) empty = empty || x.shape()[axis] == 0;
  if (!largest) return min(x, axes, kept);
  return empty ? sum(x, axes, kept) : max(x, axes, kept);
}

Array of_vectors(const Array& x, double ord, const Axes& axis, const ReduceOptions& kept) {
  if (ord == 2) return euclidean(x, axis, kept);
  if (ord == 1) return sum(abs(x), axis, kept);
  if (ord == 0) return convert(count_nonzero(x, axis, kept), x.dtype());
  if (std::isinf(ord)) return extreme(abs(x), axis, ord > 0, kept);
  const Array p = scalar_of(x.dtype(), ord), inverse = scalar_of(x.dtype(), 1 / ord);
  if (ord < 0) {  // a zero makes the sum infinite, and its root 0
    const Array zero = equal(x, scalar_of(x.dtype(), 0));
    const Array some = where(zero, scalar_of(x.dtype(), 1), abs(x));
    return where(any(zero, axis, kept), scalar_of(x.dtype(), 0),
                 power(sum(power(some, p), axis, kept), inverse));
  }
  const Array powers =
      ord > 1 ? power(abs(x), p) : rooted(abs(x), [&](const Array& a) { return power(a, p); });
  return rooted(sum(powers, axis, kept), [&](const Array& a) { return power(a, inverse); });
}

std::string text(const NormOrder& ord) {
  if (ord.kind() == Kind::kNuclear) return "\"nuc\"";
  if (ord.kind() == Kind::kFrobenius) return "\"fro\"";
  const double n = ord.number();
  const bool whole = n == std::trunc(n) && std::abs(n) < 1e6;
  return whole ? std::to_string(static_cast<int64_t>(n)) : std::to_string(n);
}

Array of_matrices(const Array& x, const NormOrder& ord, const Axes& axes,
                  const ReduceOptions& kept) {
  if (ord.kind() == Kind::kFrobenius) return euclidean(x, axes, kept);
  const double n = std::abs(ord.number());
  if (ord.kind() == Kind::kNuclear || n == 2) {
    const Array s = linalg::svdvals(moveaxis(x, axes, {-2, -1}));
    const Array y = ord.kind() == Kind::kNuclear ? sum(s, -1)
                                                 : extreme(s, {s.rank() - 1}, ord.number() > 0, {});
    return kept.keepdims ? expand_dims(y, axes) : y;
  }
  if (n != 1 && !std::isinf(n)) {
    throw ValueError("norm: ord " + text(ord) + " is no norm of matrices, here " +
                     to_string(x.aval()) +
                     "; give \"fro\", \"nuc\", 1, -1, 2, -2, INFINITY or -INFINITY, or "
                     "name one axis");
  }
  const int summed = n == 1 ? 0 : 1;  // the sums over rows are those of columns
  const Array sums = sum(abs(x), axes[summed], {.keepdims = true});
  const Array y = extreme(sums, {axes[1 - summed]}, ord.number() > 0, {.keepdims = true});
  return kept.keepdims ? y : squeeze(y, axes);
}

}  // namespace

NormOrder::NormOrder(const char* name) {
  const std::string_view given(name);
  if (given != "fro" && given != "nuc") {
    throw ValueError("norm: ord \"" + std::string(given) +
                     "\" is unknown; give \"fro\", \"nuc\" or a number");
  }
  kind_ = given == "fro" ? Kind::kFrobenius : Kind::kNuclear;
}

Array NormFunction::operator()(const Array& x, const NormOptions& options, Loc loc) const {
  const OpScope at("norm", loc);
  const Axes axes = options.axis.resolve("norm", x.rank());
  const ReduceOptions kept{.keepdims = options.keepdims};
  const NormOrder& ord = options.ord;
  const Array wide = internal::widened(x);
  Array y;
  if (ord.kind() == Kind::kNone) {
    y = euclidean(wide, axes, kept);
  } else if (axes.rank() == 2) {
    y = of_matrices(wide, ord, axes, kept);
  } else if (axes.rank() > 2) {
    throw ShapeError("norm: ord " + text(ord) + " is of vectors or matrices, got " +
                     to_string(x.aval()) + " over " + std::to_string(axes.rank()) +
                     " axes; name one or two by .axis, or leave ord out");
  } else if (ord.kind() != Kind::kNumber) {
    throw ValueError("norm: ord " + text(ord) + " is of matrices, got " + to_string(x.aval()) +
                     " over one axis; leave ord out, or name two axes");
  } else {
    y = of_vectors(wide, ord.number(), axes, kept);
  }
  return internal::narrowed(y, x.dtype());
}

Array NormFunction::operator()(const Array& x, const AxisArg& axes, const NormOptions& options,
                               Loc loc) const {
  const OpScope at("norm", loc);
  if (!options.axis.all())
    throw ValueError("norm: the axes are given twice, as an argument and as an option");
  return (*this)(x, {.ord = options.ord, .axis = axes, .keepdims = options.keepdims}, loc);
}

}  // namespace spruce
