// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/take.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index_plan.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"
#include "spruce/core/rules/to_device.h"

namespace spruce {
namespace {

int one_axis(const char* op, const AxisArg& axis, int rank) {
  const Axes axes = axis.resolve(op, rank);
  if (axes.rank() != 1)
    throw ShapeError(std::string(op) + ": takes one axis, got " + to_string(axes));
  return static_cast<int>(axes[0]);
}

// The operands of take_along_axis and put_along_axis, with equal sizes but along `axis`.
struct Along {
  Array x, indices;  // the index vectors
  GatherParams params;
};

Along along(const char* op, const Array& x, const Array& indices, int axis) {
  if (x.rank() != indices.rank()) {
    throw ShapeError(std::string(op) + ": " + to_string(x.aval()) + " and the indices " +
                     to_string(indices.aval()) + " differ in rank; add axes with expand_dims");
  }
  const Array i = rules::beside(internal::wrapped(op, indices, axis, x.aval()), x);
  Shape of_x = x.shape(), of_i = i.shape();
  of_x[axis] = of_i[axis] = 1;
  const Shape common = broadcast_shapes(op, of_x, of_i);
  of_x = of_i = common;
  of_x[axis] = x.shape()[axis];
  of_i[axis] = i.shape()[axis];
  const Array wide = of_i == i.shape() ? i : broadcast_to(i, of_i);
  return {of_x == x.shape() ? x : broadcast_to(x, of_x), expand_dims(wide, -1),
          rules::along_params(of_x, axis)};
}

}  // namespace

Array TakeFunction::operator()(const Array& x, const Array& indices, const AxisArg& axis,
                               Loc loc) const {
  const OpScope at("take", loc);
  internal::require_defined("take", "x", x, "indices", indices);
  if (axis.all() && x.rank() != 1) return take(ravel(x), indices, 0, loc);
  const int k = one_axis("take", axis, x.rank());
  const Array i = rules::beside(internal::wrapped("take", indices, k, x.aval()), x);
  return rules::take_axis(x, i, k);
}

Array TakeAlongAxisFunction::operator()(const Array& x, const Array& indices, const AxisArg& axis,
                                        Loc loc) const {
  const OpScope at("take_along_axis", loc);
  internal::require_defined("take_along_axis", "x", x, "indices", indices);
  if (axis.all()) return take_along_axis(ravel(x), ravel(indices), 0, loc);
  const Along a = along("take_along_axis", x, indices, one_axis("take_along_axis", axis, x.rank()));
  return bind1(gather_p, {a.x, a.indices}, Params::make(a.params));
}

Array PutAlongAxisFunction::operator()(const Array& x, const Array& indices, const Array& values,
                                       const AxisArg& axis, Loc loc) const {
  const OpScope at("put_along_axis", loc);
  internal::require_defined("put_along_axis", "x", x, "indices", indices, "values", values);
  const char* op = "put_along_axis";
  if (axis.all()) {
    const Array spread = broadcast_to(values, indices.shape());
    return reshape(put_along_axis(ravel(x), ravel(indices), ravel(spread), 0, loc), x.shape());
  }
  Along a = along(op, x, indices, one_axis(op, axis, x.rank()));
  if (!(a.x.shape() == x.shape())) {
    throw ShapeError(std::string(op) + ": the indices " + to_string(indices.aval()) +
                     " are larger than " + to_string(x.aval()) +
                     " in an axis besides the indexed one");
  }
  if (promote(x.dtype(), false, values.dtype(), values.weak()) != x.dtype()) {
    throw DtypeError(std::string(op) + ": the array " + to_string(x.aval()) +
                     " cannot hold values of type " + to_string(values.aval()) +
                     "; convert one with astype");
  }
  Shape place = a.indices.shape();
  place.erase(place.rank() - 1);
  const Array updates = broadcast_to(rules::convert(values, x.dtype()), place);
  a.params.clip = false;
  return bind1(scatter_p, {x, a.indices, updates}, Params::make(a.params));
}

Array ChooseFunction::operator()(const Array& indices, const std::vector<Array>& choices,
                                 Loc loc) const {
  const OpScope at("choose", loc);
  if (choices.empty()) throw ValueError("choose: there are no choices; give at least one array");
  internal::require_defined("choose", "indices", indices);
  internal::require_all_defined("choose", choices);
  const auto n = static_cast<int64_t>(choices.size());
  Shape shape = indices.shape();
  Dtype dtype = choices[0].dtype();
  bool weak = choices[0].weak();
  for (const Array& c : choices) {
    shape = broadcast_shapes("choose", shape, c.shape());
    dtype = promote(dtype, weak, c.dtype(), c.weak());
    weak = weak && c.weak();
  }
  const internal::SameDevice here(choices);
  const Array i =
      rules::to_device(internal::wrapped("choose", indices, 0, Aval{dtype, false, Shape{n}}),
                       DefaultDevice::index());
  std::vector<Array> layers;
  for (const Array& c : choices)
    layers.push_back(expand_dims(broadcast_to(rules::convert(c, dtype), shape), 0));
  const Array stacked = rules::concatenate_axis(layers, 0);
  return reshape(rules::take_along(stacked, expand_dims(broadcast_to(i, shape), 0), 0), shape);
}

Array OneHotFunction::operator()(const Array& labels, int64_t n, Dtype dtype, Loc loc) const {
  const OpScope at("one_hot", loc);
  if (!is_integer(labels.dtype())) {
    throw DtypeError("one_hot: labels must be integers, got " + to_string(labels.aval()) +
                     "; convert them with astype");
  }
  if (n < 0)
    throw ValueError("one_hot: the number of classes is " + std::to_string(n) +
                     "; it cannot be negative");
  Shape shape = labels.shape();
  shape.push_back(1);
  const internal::SameDevice here(labels);
  // Counted in i64, so that no class number wraps around in a narrow dtype of labels.
  const Array wide = rules::convert(reshape(labels, shape), int64);
  return astype(equal(wide, rules::iota({n}, int64, 0)), dtype);
}

namespace {

Array count_into(const char* op, const Array& labels, int64_t length, const Array& weights) {
  if (!is_integer(labels.dtype())) {
    throw DtypeError(std::string(op) + ": labels must be integers, got " +
                     to_string(labels.aval()) + "; convert them with astype");
  }
  if (length < 0)
    throw ValueError(std::string(op) + ": the length is " + std::to_string(length) +
                     "; it cannot be negative");
  const internal::SameDevice here(labels);
  GatherParams p = rules::take_params({length}, 0, 1);
  p.clip = false;
  return bind1(scatter_add_p,
               {zeros({length}, weights.dtype()), expand_dims(ravel(labels), -1), weights},
               Params::make(p));
}

}  // namespace

Array BincountFunction::operator()(const Array& labels, int64_t length, Loc loc) const {
  const OpScope at("bincount", loc);
  const internal::SameDevice here(labels);
  return count_into("bincount", labels, length,
                    ones({labels.size()}, rules::count_dtype(labels.size())));
}

Array BincountFunction::operator()(const Array& labels, int64_t length, const Array& weights,
                                   Loc loc) const {
  const OpScope at("bincount", loc);
  internal::require_defined("bincount", "labels", labels, "weights", weights);
  if (!(weights.shape() == labels.shape())) {
    throw ShapeError("bincount: the weights " + to_string(weights.aval()) +
                     " do not have the shape of the labels " + to_string(labels.aval()));
  }
  return count_into("bincount", labels, length, ravel(weights));
}

Array ArgwhereFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("argwhere", loc);
  const internal::SameDevice here(x);
  if (x.rank() == 0) {
    return zeros({argwhere(reshape(x, {1}), loc).shape()[0], 0}, int32);
  }
  const Array mask = internal::on_host(is_bool(x.dtype()) ? x : x != 0);
  if (!mask.defined()) {
    throw TracerError(
        "argwhere: the shape of the result depends on the values of " + x.impl()->describe() +
        " of type " + to_string(x.aval()) +
        ", which are not known while its function is traced; use where(condition, a, b)");
  }
  const std::vector<int64_t> places = internal::known_integers(internal::true_places(mask));
  int64_t largest = 0;
  for (const int64_t n : x.shape()) largest = std::max(largest, n);
  const Shape strides = row_major_strides(x.shape());
  const auto count = static_cast<int64_t>(places.size());
  const Array out =
      internal::make_array(Aval{rules::count_dtype(largest), false, {count, x.rank()}});
  visit_dtype(out.dtype(), [&]<class T>(T) {
    T* y = static_cast<T*>(internal::mutable_data(out));
    for (int64_t place : places) {
      for (int axis = 0; axis < strides.rank(); ++axis) {
        *y++ = static_cast<T>(place / strides[axis]);
        place %= strides[axis];
      }
    }
  });
  return rules::beside(out, x);
}

std::vector<Array> NonzeroFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("nonzero", loc);
  const Array places = argwhere(x.rank() == 0 ? reshape(x, {1}) : x, loc);
  std::vector<Array> out;
  for (int axis = 0; axis < places.shape()[1]; ++axis) {
    out.push_back(reshape(rules::slice_axis(places, 1, axis, axis + 1), {places.shape()[0]}));
  }
  return out;
}

std::vector<Array> WhereFunction::operator()(const Array& condition, Loc loc) const {
  const OpScope at("where", loc);
  return nonzero(condition, loc);
}

}  // namespace spruce
