// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/shape.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

// `shape` with a size of -1 replaced by what the number of elements leaves for it.
Shape resolved(const Array& x, const Shape& shape) {
  int open = -1;
  int64_t known = 1;
  bool overflow = false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && open >= 0) {
      throw ShapeError("reshape: shape " + to_string(shape) +
                       " has more than one -1; only one size can follow from the others");
    }
    if (shape[i] == -1)
      open = i;
    else
      overflow = __builtin_mul_overflow(known, shape[i], &known) || overflow;
  }
  if (open < 0 || overflow) return shape;
  if (known <= 0 || x.size() % known != 0) {
    throw ShapeError("reshape: no size in place of the -1 of " + to_string(shape) + " gives the " +
                     std::to_string(x.size()) + " elements of " + to_string(x.aval()) +
                     "; the other sizes must divide their number");
  }
  Shape out = shape;
  out[open] = x.size() / known;
  return out;
}

}  // namespace

Array ReshapeFunction::operator()(const Array& x, const Shape& shape, Loc loc) const {
  const OpScope at("reshape", loc);
  return rules::reshaped(x, resolved(x, shape));
}

Array Array::reshape(const Shape& shape, Loc loc) const {
  return spruce::reshape(*this, shape, loc);
}

Array RavelFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("ravel", loc);
  return reshape(x, {x.size()});
}

Array FlattenFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("flatten", loc);
  return ravel(x, loc);
}

Array BroadcastToFunction::operator()(const Array& x, const Shape& shape, Loc loc) const {
  const OpScope at("broadcast_to", loc);
  if (x.shape() == shape) return x;
  if (!broadcasts_to(x.shape(), shape)) {
    throw ShapeError("broadcast_to: " + to_string(x.aval()) + " does not broadcast to shape " +
                     to_string(shape) + "; sizes must be equal or 1, aligned at the last axis");
  }
  return rules::broadcast_last(x, shape);
}

std::vector<Array> BroadcastArraysFunction::operator()(std::span<const Array> arrays,
                                                       Loc loc) const {
  const OpScope at("broadcast_arrays", loc);
  internal::require_all_defined("broadcast_arrays", arrays);
  Shape common;
  for (const Array& x : arrays) common = broadcast_shapes("broadcast_arrays", common, x.shape());
  std::vector<Array> out;
  for (const Array& x : arrays) out.push_back(broadcast_to(x, common));
  return out;
}

std::vector<Array> BroadcastArraysFunction::operator()(std::initializer_list<Array> arrays,
                                                       Loc loc) const {
  return broadcast_arrays(std::span<const Array>(arrays.begin(), arrays.size()), loc);
}

Array AstypeFunction::operator()(const Array& x, Dtype dtype, Loc loc) const {
  const OpScope at("astype", loc);
  return rules::convert(x, dtype);
}

Array Array::astype(Dtype dtype, Loc loc) const { return spruce::astype(*this, dtype, loc); }

Array BitcastFunction::operator()(const Array& x, Dtype dtype, Loc loc) const {
  const OpScope at("bitcast", loc);
  return bind1(bitcast_convert_type_p, {x}, Params::make(BitcastParams{dtype}));
}

Array CopyFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("copy", loc);
  return bind1(copy_p, {x});
}

Array ExpandDimsFunction::operator()(const Array& x, const AxisArg& axis, Loc loc) const {
  const OpScope at("expand_dims", loc);
  if (axis.all())
    throw ValueError("expand_dims: no axis is named; say where the axis of size 1 goes");
  const int rank = x.rank() + axis.count();
  const Axes added = axis.resolve("expand_dims", rank);
  Shape shape = Shape::filled(rank, 1);
  for (int i = 0, from = 0; i < rank; ++i) {
    if (!added.contains(i)) shape[i] = x.shape()[from++];
  }
  return reshape(x, shape);
}

Array SqueezeFunction::operator()(const Array& x, const AxisArg& axes, Loc loc) const {
  const OpScope at("squeeze", loc);
  const Axes named = axes.all() ? Axes() : axes.resolve("squeeze", x.rank());
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t n = x.shape()[i];
    if (named.contains(i) && n != 1) {
      throw ShapeError("squeeze: axis " + std::to_string(i) + " of " + to_string(x.aval()) +
                       " has size " + std::to_string(n) + "; only axes of size 1 can be taken out");
    }
    if (axes.all() ? n != 1 : !named.contains(i)) shape.push_back(n);
  }
  return reshape(x, shape);
}

Array TransposeFunction::operator()(const Array& x, const AxisArg& axes, Loc loc) const {
  const OpScope at("transpose", loc);
  Axes perm = axes.resolve("transpose", x.rank());
  if (axes.all()) {
    for (int i = 0; i < perm.rank(); ++i) perm[i] = x.rank() - 1 - i;
  }
  bool in_order = perm.rank() == x.rank();
  for (int i = 0; i < perm.rank(); ++i) in_order = in_order && perm[i] == i;
  return in_order ? x : rules::transpose_axes(x, perm);
}

Array SwapaxesFunction::operator()(const Array& x, Axis a, Axis b, Loc loc) const {
  const OpScope at("swapaxes", loc);
  Axes perm = AxisArg(none).resolve("swapaxes", x.rank());
  const int i = normalize_axis("swapaxes", a, x.rank()),
            j = normalize_axis("swapaxes", b, x.rank());
  std::swap(perm[i], perm[j]);
  return transpose(x, perm);
}

Array MoveaxisFunction::operator()(const Array& x, const AxisArg& source,
                                   const AxisArg& destination, Loc loc) const {
  const OpScope at("moveaxis", loc);
  const Axes from = source.resolve("moveaxis", x.rank()),
             to = destination.resolve("moveaxis", x.rank());
  if (from.rank() != to.rank()) {
    throw ShapeError("moveaxis: " + std::to_string(from.rank()) + " axes are to be moved to " +
                     std::to_string(to.rank()) + " places; name as many places as axes");
  }
  Axes perm = Axes::filled(x.rank(), -1);
  for (int i = 0; i < from.rank(); ++i) perm[static_cast<int>(to[i])] = from[i];
  for (int i = 0, next = 0; i < x.rank(); ++i) {
    if (perm[i] >= 0) continue;
    while (from.contains(next)) ++next;
    perm[i] = next++;
  }
  return transpose(x, perm);
}

}  // namespace spruce
