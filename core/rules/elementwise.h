// SPDX-License-Identifier: Apache-2.0
// Rules of elementwise primitives: they broadcast as NumPy does, all inputs have one dtype.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::rules {

/// One floating input; the output has its type.
Aval same_floating(const ShapeArgs& a);
/// One input that is not bool; the output has its type.
Aval same_numeric(const ShapeArgs& a);
/// One input of any dtype.
Aval same(const ShapeArgs& a);
/// One input of bool or integer dtype.
Aval same_integral(const ShapeArgs& a);
/// Inputs of one dtype; the output has it too, and the shape that they broadcast to.
Aval broadcast(const ShapeArgs& a);
/// As broadcast, for anything but bool.
Aval broadcast_numeric(const ShapeArgs& a);
/// As broadcast, for floating dtypes.
Aval broadcast_floating(const ShapeArgs& a);
/// As broadcast, for bool and integers.
Aval broadcast_integral(const ShapeArgs& a);
/// As broadcast, for integers.
Aval broadcast_integer(const ShapeArgs& a);
/// As broadcast, with a bool output: comparisons.
Aval broadcast_compare(const ShapeArgs& a);
/// One floating input, a bool output: isnan.
Aval predicate_floating(const ShapeArgs& a);

/// dy = F(x, y, t), where y is the result: for unary primitives.
template <auto F>
void jvp_unary(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  a.out_tangents[0] = F(a.in[0], a.out[0], a.tangents[0]);
}

/// Brings a tangent or cotangent to the type that it must have: broadcast up, never summed.
Array broadcast_tangent(const Array& t, const Shape& shape);
/// Sums a cotangent down to the shape of an input that was broadcast.
Array unbroadcast(const Array& ct, const Shape& shape);
/// The sum of two tangents of which either may be undefined (zero).
Array add_tangents(const Array& a, const Array& b);
/// A number of rank 0 with the dtype of `x`: no promotion follows.
Array scalar_like(double value, const Array& x);
/// Zeros of that type, for rules that need a zero as an array.
Array zeros_of(const Aval& aval);

/// dy = A(a, b, y, ta) + B(a, b, y, tb): for binary primitives.
template <auto A, auto B>
void jvp_binary(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  Array t;
  if (a.tangents[0].defined()) t = A(a.in[0], a.in[1], a.out[0], a.tangents[0]);
  if (a.tangents[1].defined()) t = add_tangents(t, B(a.in[0], a.in[1], a.out[0], a.tangents[1]));
  if (t.defined()) a.out_tangents[0] = broadcast_tangent(t, a.out[0].shape());
}

/// The derivative is zero everywhere (floor, comparisons, integer operations).
void jvp_zero(const JvpArgs& a);
/// The primitive is linear in all its inputs at once, and zero inputs may be written as arrays of
/// zeros.
void jvp_linear(const JvpArgs& a);

/// vmap of any elementwise primitive: aligns the ranks behind the mapped axis.
void batch_elementwise(const BatchArgs& a);
/// The inputs with the mapped axis in front and otherwise one rank, so that they broadcast;
/// unbatched ones as they are.
std::vector<Array> align_batched(const BatchArgs& a);
/// `x` with the mapped axis in front, broadcast along it where `batched` is false.
Array materialize_batch(const Array& x, bool batched, int64_t size);

/// Samples for unary functions on [low, high], which are given in tenths.
template <int kLowTenths, int kHighTenths>
std::vector<Sample> unary_samples();
/// The same for binary ones, with all kinds of broadcasting.
template <int kLowTenths, int kHighTenths>
std::vector<Sample> binary_samples();
/// The same for int32 inputs in [low, high].
template <int kLow, int kHigh>
std::vector<Sample> integer_unary_samples();
/// The same for binary functions, with all kinds of broadcasting.
template <int kLow, int kHigh>
std::vector<Sample> integer_binary_samples();

/// A unary sample at these very values, once of rank 1 and once of rank 2: for functions with jumps
/// or poles.
std::vector<Sample> valued_samples(const std::vector<double>& values);
/// One list after the other.
std::vector<Sample> joined(std::vector<Sample> a, const std::vector<Sample>& b);

namespace internal {
std::vector<Sample> samples_over(const std::vector<std::vector<Shape>>& shapes, Dtype dtype,
                                 double low, double high);
std::vector<std::vector<Shape>> unary_shapes();
std::vector<std::vector<Shape>> binary_shapes();
}  // namespace internal

template <int kLowTenths, int kHighTenths>
std::vector<Sample> unary_samples() {
  return internal::samples_over(internal::unary_shapes(), Dtype::kFloat32, kLowTenths / 10.0,
                                kHighTenths / 10.0);
}
template <int kLowTenths, int kHighTenths>
std::vector<Sample> binary_samples() {
  return internal::samples_over(internal::binary_shapes(), Dtype::kFloat32, kLowTenths / 10.0,
                                kHighTenths / 10.0);
}
template <int kLow, int kHigh>
std::vector<Sample> integer_unary_samples() {
  return internal::samples_over(internal::unary_shapes(), Dtype::kInt32, kLow, kHigh);
}
template <int kLow, int kHigh>
std::vector<Sample> integer_binary_samples() {
  return internal::samples_over(internal::binary_shapes(), Dtype::kInt32, kLow, kHigh);
}

}  // namespace spruce::rules
