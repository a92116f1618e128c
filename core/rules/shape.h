// SPDX-License-Identifier: Apache-2.0
// Parameters of the primitives that move elements, and short ways to apply these primitives inside
// of rules.
#pragma once

#include "spruce/core/axis_arg.h"
#include "spruce/core/primitive.h"

namespace spruce {

/// What moves, repeats, converts or leaves out elements; the parameters follow. copy and
/// stop_gradient have none.
extern const Primitive reshape_p, broadcast_in_dim_p, transpose_p, concatenate_p, pad_p, slice_p,
    dynamic_slice_p, dynamic_update_slice_p, rev_p, iota_p, convert_element_type_p,
    bitcast_convert_type_p, copy_p, stop_gradient_p;

/// The same elements in another shape.
struct ReshapeParams {
  Shape shape;  ///< of as many elements
};
/// Axis i of the input is axis broadcast_dimensions[i] of `shape`; these rise, and its size is the
/// same or 1.
struct BroadcastInDimParams {
  Shape shape;                ///< of the output
  Axes broadcast_dimensions;  ///< one entry for each axis of the input
};
/// Axis i of the output is axis perm[i] of the input.
struct TransposeParams {
  Axes perm;  ///< each axis once
};
/// Any number of inputs, one behind the other.
struct ConcatenateParams {
  int64_t axis = 0;  ///< along which they stand, not negative
};
/// Per axis: elements put before and after (or, negative, taken away) and between any two.
struct PadParams {
  Shape low;       ///< before the first element; may be negative
  Shape high;      ///< behind the last one; may be negative
  Shape interior;  ///< between neighbours, not negative
};
/// The elements start, start + stride, ... below limit: one entry for each axis, 0 <= start <=
/// limit <= size.
struct SliceParams {
  Shape start;   ///< the first element
  Shape limit;   ///< before which it ends
  Shape stride;  ///< 1 or more
};
/// A window whose place is an input.
struct DynamicSliceParams {
  Shape sizes;  ///< of the window, one for each axis
};
/// The elements in reverse order.
struct ReverseParams {
  Axes axes;  ///< along which it goes backwards, none negative
};
/// 0, 1, 2, ... along an axis; no inputs.
struct IotaParams {
  Shape shape;                    ///< of the output
  Dtype dtype = Dtype::kFloat32;  ///< of the output
  int64_t axis = 0;               ///< along which it counts
};
/// The elements in another dtype.
struct ConvertParams {
  Dtype dtype = Dtype::kFloat32;  ///< of the output
  bool weak = false;              ///< whether it gives way in promotion
};
/// The bits of elements, read as another dtype.
struct BitcastParams {
  Dtype dtype = Dtype::kFloat32;  ///< of the output
};

namespace rules {

/// `x` broadcast to `shape`, its axes being `dimensions` of it (see BroadcastInDimParams).
Array broadcast_in_dim(const Array& x, const Shape& shape, const Axes& dimensions);
/// `x` broadcast to `shape`, its axes being the last ones of it; x itself where it has that shape.
Array broadcast_last(const Array& x, const Shape& shape);
/// The elements of `x` in that shape; x itself where it has it.
Array reshaped(const Array& x, const Shape& shape);
/// Axis i of the result is axis perm[i] of x.
Array transpose_axes(const Array& x, const Axes& perm);
/// The elements start, start + stride, ... below limit of each axis; 0 <= start <= limit <= size.
Array slice_all(const Array& x, const Shape& start, const Shape& limit, const Shape& stride);
/// The same along one axis, the others whole.
Array slice_axis(const Array& x, int axis, int64_t start, int64_t limit, int64_t stride = 1);
/// `value` is of rank 0 and the dtype of x.
Array pad_all(const Array& x, const Array& value, const Shape& low, const Shape& high,
              const Shape& interior);
/// Pads one axis with zeros.
Array pad_axis(const Array& x, int axis, int64_t low, int64_t high);
Array pad_axis(const Array& x, const Array& value, int axis, int64_t low, int64_t high);
/// `parts`, of one dtype, one behind the other along `axis`.
Array concatenate_axis(std::span<const Array> parts, int axis);
/// x with its elements in reverse order along `axes`.
Array reverse_axes(const Array& x, const Axes& axes);
/// 0, 1, 2, ... along `axis`.
Array iota(const Shape& shape, Dtype dtype, int axis);
/// `x` converted; itself where it has that dtype and strength already.
Array convert(const Array& x, Dtype dtype, bool weak = false);
/// Writes the element of that dtype that `value` converts to.
void write_number(Dtype dtype, double value, void* to);
/// A strong array of rank 0 of that dtype with the nearest value.
Array scalar_of(Dtype dtype, double value);
/// The only axis that is named, in 0..rank-1. Throws ShapeError naming `op`.
int single_axis(const char* op, const AxisArg& axis, int rank);
/// The axes of 0..rank-1 that are not in `axes`, rising.
Axes other_axes(int rank, const Axes& axes);
/// `s` with `value` in front: how parameters per axis look under vmap.
Shape with_front(const Shape& s, int64_t value);
/// The order of axes that undoes `perm`: its entry perm[i] is i.
Axes inverse_axes(const Axes& perm);
/// The strides of an array of that shape within its dense transpose (see TransposeParams).
Shape strides_in_transpose(const Shape& shape, const Axes& perm);
/// `axes`, each one higher.
Axes shifted(const Axes& axes);

/// Primitive::takes_strides of kernels that copy input 0 from any strides.
inline bool reads_strides(const StridesArgs& a) { return !a.output && a.index == 0; }
/// And of kernels that copy from any strides to any others.
inline bool any_strides(const StridesArgs&) { return true; }

/// A sample with inputs of these shapes, f32 in [-2, 2].
Sample sample_of(std::initializer_list<Shape> shapes, Params params = {});
Sample sample_of(const std::vector<Shape>& shapes, Dtype dtype, Params params);

}  // namespace rules
}  // namespace spruce
