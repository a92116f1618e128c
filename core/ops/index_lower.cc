// SPDX-License-Identifier: Apache-2.0
// From the plan of an index to slice, reverse, reshape, gather and scatter.
#include <algorithm>
#include <cstring>

#include "spruce/core/interpreter.h"
#include "spruce/core/ops/index_plan.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"
#include "spruce/core/rules/to_device.h"

namespace spruce {

namespace internal {
namespace {

// What one axis contributes to an entry of the index vectors: start + step * i along axis `dim` of
// the positions, or an array whose axes are those from `dim` on.
struct Entry {
  int64_t start = 0;
  int64_t step = 0;
  int dim = 0;
  Array array = {};
  int64_t size = 0;    // of the axis
  int64_t stride = 1;  // of the axis among those that are indexed as one
};

// Neighbouring axes, all of which are indexed by points, are one axis with one index: the place of
// an element in their row-major order.
using Key = std::vector<Entry>;

void add_inner_axis(Key& key, Entry e) {
  for (Entry& outer : key) outer.stride *= e.size;
  key.push_back(std::move(e));
}

// out[p * width] += (the entry at position p) * stride, for all positions.
template <class To, class From>
void add_known(const From* values, int64_t first, const Shape& step, int64_t stride,
               const Shape& positions, To* out, int64_t width) {
  const int64_t count = positions.numel(), inner = positions.rank() > 0 ? positions.back() : 1;
  const int64_t inner_step = positions.rank() > 0 ? step.back() : 0;
  const auto scale = static_cast<To>(stride);
  Shape index = Shape::filled(positions.rank(), 0);
  int64_t at = 0;
  for (int64_t p = 0; p < count; p += inner) {
    To* y = out + p * width;
    if (values == nullptr) {
      for (int64_t k = 0; k < inner; ++k)
        y[k * width] += static_cast<To>(first + at + k * inner_step) * scale;
    } else if (inner_step == 1 && width == 1) {
      for (int64_t k = 0; k < inner; ++k) y[k] += static_cast<To>(values[at + k]) * scale;
    } else {
      for (int64_t k = 0; k < inner; ++k)
        y[k * width] += static_cast<To>(values[at + k * inner_step]) * scale;
    }
    for (int axis = positions.rank() - 2; axis >= 0; --axis) {
      at += step[axis];
      if (++index[axis] < positions[axis]) break;
      at -= step[axis] * positions[axis];
      index[axis] = 0;
    }
  }
}

template <class To>
void add_known(const Entry& e, const Shape& positions, To* out, int64_t width) {
  Shape step = Shape::filled(positions.rank(), 0);
  if (!e.array.defined()) {
    if (e.step != 0) step[e.dim] = e.step;
    add_known<To, To>(nullptr, e.start, step, e.stride, positions, out, width);
    return;
  }
  const Shape strides = row_major_strides(e.array.shape());
  for (int i = 0; i < strides.rank(); ++i)
    step[e.dim + i] = e.array.shape()[i] == 1 ? 0 : strides[i];
  visit_dtype(e.array.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const auto* values = static_cast<const T*>(mutable_data(known(e.array)));
      add_known(values, 0, step, e.stride, positions, out, width);
    }
  });
}

Array known_vectors(const Shape& positions, const std::vector<Key>& keys, Dtype dtype) {
  const auto width = static_cast<int64_t>(keys.size());
  Shape shape = positions;
  shape.push_back(width);
  const Array out = make_array(Aval{dtype, false, shape});
  const auto fill = [&]<class T>(T* data) {
    std::fill_n(data, out.size(), T{0});
    for (size_t k = 0; k < keys.size(); ++k) {
      for (const Entry& e : keys[k]) add_known(e, positions, data + k, width);
    }
  };
  if (dtype == int64)
    fill(static_cast<int64_t*>(mutable_data(out)));
  else
    fill(static_cast<int32_t*>(mutable_data(out)));
  return out;
}

// The entry with axes that broadcast to the positions.
Array traced_entry(const Entry& e, const Shape& positions, Dtype dtype) {
  Shape shape = Shape::filled(positions.rank(), 1);
  if (e.array.defined()) {
    for (int i = 0; i < e.array.rank(); ++i) shape[e.dim + i] = e.array.shape()[i];
    const Array x = rules::to_device(rules::convert(e.array, dtype), DefaultDevice::index());
    return x.shape() == shape ? x : reshape(x, shape);
  }
  if (e.step == 0) return rules::convert(reshape(Array(e.start), shape), dtype);
  shape[e.dim] = positions[e.dim];
  return rules::iota(shape, dtype, e.dim) * e.step + e.start;
}

// One index for all axes of the key. Where one of its entries is outside, the nearest place along
// that axis is taken, or the index is -1.
Array traced_key(const Key& key, const Shape& positions, Dtype dtype, bool nearest) {
  const auto spread = [&](const Array& x) {
    return x.shape() == positions ? x : broadcast_to(x, positions);
  };
  const auto scalar = [&](int64_t n) { return rules::scalar_of(dtype, static_cast<double>(n)); };
  if (key.size() == 1) return spread(traced_entry(key[0], positions, dtype));
  Array at, inside;
  for (const Entry& e : key) {
    Array x = traced_entry(e, positions, dtype);
    if (e.array.defined() && nearest) {
      x = clip(x, scalar(0), scalar(e.size - 1));
    } else if (e.array.defined()) {
      const Array valid = logical_and(x >= 0, x < scalar(e.size));
      inside = inside.defined() ? logical_and(inside, valid) : valid;
    }
    if (e.stride != 1) x = x * scalar(e.stride);
    at = at.defined() ? at + x : x;
  }
  if (inside.defined()) at = where(inside, at, scalar(-1));
  return spread(at);
}

// i[positions..., keys].
Array index_vectors(const Shape& positions, const std::vector<Key>& keys, Dtype dtype,
                    bool nearest) {
  if (keys.size() == 1 && keys[0].size() == 1 && keys[0][0].array.defined() &&
      keys[0][0].array.shape() == positions) {
    return expand_dims(keys[0][0].array, -1);
  }
  bool all_known = true;
  for (const Key& key : keys) {
    for (const Entry& e : key)
      all_known = all_known && (!e.array.defined() || known(e.array).defined());
  }
  if (all_known) return known_vectors(positions, keys, dtype);
  std::vector<Array> parts;
  for (const Key& key : keys)
    parts.push_back(expand_dims(traced_key(key, positions, dtype, nearest), -1));
  return parts.size() == 1 ? parts[0] : rules::concatenate_axis(parts, positions.rank());
}

// A dtype for all index vectors of the plan: axes that are indexed as one may have as many places
// as the array has elements.
Dtype index_dtype(const IndexPlan& plan) {
  bool wide = plan.base.numel() > INT32_MAX;
  for (const AxisIndex& a : plan.axes) {
    if (!a.array.defined() || known(a.array).defined()) continue;
    const Dtype dtype = a.array.dtype();
    wide = wide || dtype == int64 || dtype == uint32 || dtype == uint64;
  }
  return wide ? int64 : int32;
}

Array with_shape(const Array& x, const Shape& shape) {
  return x.shape() == shape ? x : reshape(x, shape);
}

// Slices with their steps, still with the axes of points.
Array read_slices(const Array& x, const IndexPlan& plan) {
  Shape start, limit, stride;
  Axes reversed;
  bool whole = true;
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const AxisIndex& a = plan.axes[axis];
    const int64_t n = plan.base[static_cast<int>(axis)];
    if (a.array.defined()) {
      start.push_back(0), limit.push_back(n), stride.push_back(1);
      continue;
    }
    const int64_t last = a.start + (a.size - 1) * a.step;
    start.push_back(std::min(a.start, a.size == 0 ? a.start : last));
    limit.push_back(a.size == 0 ? a.start : std::max(a.start, last) + 1);
    stride.push_back(std::abs(a.step));
    whole = whole && start.back() == 0 && limit.back() == n && stride.back() == 1;
    if (a.step < 0) reversed.push_back(static_cast<int64_t>(axis));
  }
  Array y = whole ? x : rules::slice_all(x, start, limit, stride);
  return reversed.empty() ? y : rules::reverse_axes(y, reversed);
}

// True if what the plan takes lies in one piece of memory, beginning at element `first`.
bool in_one_piece(const IndexPlan& plan, int64_t& first) {
  const Shape strides = row_major_strides(plan.base);
  bool whole = true;  // all axes from here on are taken whole
  first = 0;
  for (int axis = plan.base.rank() - 1; axis >= 0; --axis) {
    const AxisIndex& a = plan.axes[static_cast<size_t>(axis)];
    if (!whole && a.size != 1) return false;
    if (a.step != 1 || a.size == 0) return false;
    whole = whole && a.size == plan.base[axis];
    first += a.start * strides[axis];
  }
  return true;
}

// Where nothing is traced, one copy instead of a slice and a reshape.
Array copy_piece(const Array& x, const IndexPlan& plan, int64_t first) {
  const Array y = make_array(Aval{x.dtype(), x.weak(), plan.result()});
  const auto* from = static_cast<const char*>(mutable_data(x)) + first * size_of(x.dtype());
  std::memcpy(mutable_data(y), from, static_cast<size_t>(y.nbytes()));
  return y;
}

}  // namespace

Array read(const Array& x, const IndexPlan& plan) {
  int64_t first = 0;
  const bool computes = Interpreter::current() == nullptr && !x.is_tracer() && x.aval().device == 0;
  const SameDevice here(x);
  if (computes && !plan.arrays && in_one_piece(plan, first)) return copy_piece(x, plan, first);
  Array y = read_slices(with_shape(x, plan.base), plan);
  if (!plan.arrays) return with_shape(y, plan.result());

  GatherParams p;
  std::vector<Key> keys;
  Shape dense;          // y without the axes of points, those that are indexed as one merged
  bool in_key = false;  // the axis before is indexed by an array
  for (const AxisIndex& a : plan.axes) {
    if (a.point) continue;
    if (!a.array.defined()) {
      in_key = false;
      dense.push_back(a.size);
      p.window.push_back(a.size);
      continue;
    }
    const int64_t n = plan.base[static_cast<int>(&a - plan.axes.data())];
    if (in_key) {
      dense.back() *= n;
    } else {
      p.collapsed_dims.push_back(dense.rank());
      keys.emplace_back();
      dense.push_back(n);
      p.window.push_back(1);
    }
    in_key = true;
    add_inner_axis(keys.back(),
                   {.dim = plan.group.rank() - a.array.rank(), .array = a.array, .size = n});
  }
  p.start_index_map = p.collapsed_dims;
  int64_t place = 0;
  for (size_t k = 0; k < plan.kept.size(); ++k) {
    if (k == plan.group_at) place += plan.group.rank();
    if (plan.kept[k] != IndexPlan::kNew) p.offset_dims.push_back(place++);
  }
  const Array indices =
      rules::beside(index_vectors(plan.group, keys, index_dtype(plan), p.clip), x);
  return with_shape(bind1(gather_p, {with_shape(y, dense), indices}, Params::make(p)),
                    plan.result());
}

ScatterPlan plan_scatter(const IndexPlan& plan) {
  GatherParams p;
  p.clip = false;
  Shape positions;
  std::vector<int> dim(plan.axes.size(), 0);  // where the positions of a stepped slice run
  int64_t place = 0;
  int group = 0;
  for (size_t k = 0; k <= plan.kept.size(); ++k) {
    if (plan.arrays && k == plan.group_at) {
      group = positions.rank();
      place += plan.group.rank();
      for (const int64_t n : plan.group) positions.push_back(n);
    }
    if (k == plan.kept.size() || plan.kept[k] == IndexPlan::kNew) continue;
    const auto axis = static_cast<size_t>(plan.kept[k]);
    const AxisIndex& a = plan.axes[axis];
    if (a.step == 1) {
      p.offset_dims.push_back(place);
    } else {
      dim[axis] = positions.rank();
      positions.push_back(a.size);
    }
    ++place;
  }
  Shape base;
  std::vector<Key> keys;
  bool in_key = false;  // the axis before is not part of the windows
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const AxisIndex& a = plan.axes[axis];
    const int64_t n = plan.base[static_cast<int>(axis)];
    if (!a.array.defined() && !a.point && a.step == 1) {
      in_key = false;
      if (a.size != n) {
        p.start_index_map.push_back(base.rank());
        keys.push_back({{.start = a.start, .size = n}});
      }
      base.push_back(n);
      p.window.push_back(a.size);
      continue;
    }
    Entry e{.start = a.start, .step = a.point ? 0 : a.step, .dim = dim[axis], .size = n};
    if (a.array.defined())
      e = {.dim = group + plan.group.rank() - a.array.rank(), .array = a.array, .size = n};
    if (in_key) {
      base.back() *= n;
    } else {
      p.start_index_map.push_back(base.rank());
      p.collapsed_dims.push_back(base.rank());
      keys.emplace_back();
      base.push_back(n);
      p.window.push_back(1);
    }
    in_key = true;
    add_inner_axis(keys.back(), std::move(e));
  }
  return {base, p, index_vectors(positions, keys, index_dtype(plan), p.clip)};
}

}  // namespace internal
}  // namespace spruce
