// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/shape.h"

namespace spruce::rules {

Array broadcast_in_dim(const Array& x, const Shape& shape, const Axes& dimensions) {
  return bind1(broadcast_in_dim_p, {x}, Params::make(BroadcastInDimParams{shape, dimensions}));
}

Array broadcast_last(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Axes dimensions;
  for (int i = 0; i < x.rank(); ++i) dimensions.push_back(shape.rank() - x.rank() + i);
  return broadcast_in_dim(x, shape, dimensions);
}

Array reshaped(const Array& x, const Shape& shape) {
  return x.shape() == shape ? x : bind1(reshape_p, {x}, Params::make(ReshapeParams{shape}));
}

Array transpose_axes(const Array& x, const Axes& perm) {
  return bind1(transpose_p, {x}, Params::make(TransposeParams{perm}));
}

Array slice_all(const Array& x, const Shape& start, const Shape& limit, const Shape& stride) {
  return bind1(slice_p, {x}, Params::make(SliceParams{start, limit, stride}));
}

Array slice_axis(const Array& x, int axis, int64_t start, int64_t limit, int64_t stride) {
  if (start == 0 && limit == x.shape()[axis] && stride == 1) return x;
  SliceParams p{Shape::filled(x.rank(), 0), x.shape(), Shape::filled(x.rank(), 1)};
  p.start[axis] = start;
  p.limit[axis] = limit;
  p.stride[axis] = stride;
  return bind1(slice_p, {x}, Params::make(p));
}

Array pad_all(const Array& x, const Array& value, const Shape& low, const Shape& high,
              const Shape& interior) {
  return bind1(pad_p, {x, value}, Params::make(PadParams{low, high, interior}));
}

Array pad_axis(const Array& x, int axis, int64_t low, int64_t high) {
  return pad_axis(x, scalar_of(x.dtype(), 0), axis, low, high);
}

Array pad_axis(const Array& x, const Array& value, int axis, int64_t low, int64_t high) {
  if (low == 0 && high == 0) return x;
  const Shape none = Shape::filled(x.rank(), 0);
  PadParams p{none, none, none};
  p.low[axis] = low;
  p.high[axis] = high;
  return bind1(pad_p, {x, value}, Params::make(p));
}

Array concatenate_axis(std::span<const Array> parts, int axis) {
  return parts.size() == 1 ? parts[0]
                           : bind1(concatenate_p, parts, Params::make(ConcatenateParams{axis}));
}

Array reverse_axes(const Array& x, const Axes& axes) {
  return axes.empty() ? x : bind1(rev_p, {x}, Params::make(ReverseParams{axes}));
}

Array iota(const Shape& shape, Dtype dtype, int axis) {
  return bind1(iota_p, std::span<const Array>(), Params::make(IotaParams{shape, dtype, axis}));
}

Array convert(const Array& x, Dtype dtype, bool weak) {
  if (x.dtype() == dtype && x.weak() == weak) return x;
  return bind1(convert_element_type_p, {x}, Params::make(ConvertParams{dtype, weak}));
}

void write_number(Dtype dtype, double value, void* to) {
  visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (kIsHalf<T>)
      *static_cast<T*>(to) = T(static_cast<float>(value));
    else
      *static_cast<T*>(to) = static_cast<T>(value);
  });
}

Array scalar_of(Dtype dtype, double value) {
  return visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (kIsHalf<T>)
      return array(T(static_cast<float>(value)));
    else
      return array(static_cast<T>(value), dtype_of<T>());
  });
}

int single_axis(const char* op, const AxisArg& axis, int rank) {
  if (axis.count() != 1) {
    throw ShapeError(std::string(op) + ": " +
                     (axis.all() ? "no axis is" : std::to_string(axis.count()) + " axes are") +
                     " named; name one, and merge several by reshape first");
  }
  return static_cast<int>(axis.resolve(op, rank)[0]);
}

Axes other_axes(int rank, const Axes& axes) {
  Axes out;
  for (int i = 0; i < rank; ++i) {
    if (!axes.contains(i)) out.push_back(i);
  }
  return out;
}

Shape with_front(const Shape& s, int64_t value) {
  Shape out = s;
  out.insert(0, value);
  return out;
}

Axes inverse_axes(const Axes& perm) {
  Axes out = perm;
  for (int i = 0; i < perm.rank(); ++i) out[static_cast<int>(perm[i])] = i;
  return out;
}

Shape strides_in_transpose(const Shape& shape, const Axes& perm) {
  Shape strides = shape;
  int64_t step = 1;
  for (int i = perm.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<int>(perm[i]);
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

Axes shifted(const Axes& axes) {
  Axes out = axes;
  for (int64_t& a : out) ++a;
  return out;
}

Sample sample_of(std::initializer_list<Shape> shapes, Params params) {
  return sample_of(std::vector<Shape>(shapes), Dtype::kFloat32, std::move(params));
}

Sample sample_of(const std::vector<Shape>& shapes, Dtype dtype, Params params) {
  Sample s;
  for (const Shape& shape : shapes) {
    SampleInput in;
    in.aval = Aval{dtype, false, shape};
    in.distinct = true;
    s.in.push_back(in);
  }
  s.params = std::move(params);
  return s;
}

}  // namespace spruce::rules
