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

namespace spruce {

namespace internal {
namespace {

// One entry of all index vectors: start + step * i along axis `dim` of the positions, or an array
// whose axes are those from `dim` on.
struct Entry {
  int64_t start = 0;
  int64_t step = 0;
  int dim = 0;
  Array array = {};
};

void fill_known(const Entry& e, const Shape& positions, int64_t* out, int64_t width) {
  const std::vector<int64_t> values =
      e.array.defined() ? known_integers(known(e.array)) : std::vector<int64_t>{e.start};
  Shape step = Shape::filled(positions.rank(), 0);  // in `values`, or of the value itself
  if (e.array.defined()) {
    const Shape strides = row_major_strides(e.array.shape());
    for (int i = 0; i < strides.rank(); ++i)
      step[e.dim + i] = e.array.shape()[i] == 1 ? 0 : strides[i];
  } else if (e.step != 0) {
    step[e.dim] = e.step;
  }
  Shape index = Shape::filled(positions.rank(), 0);
  int64_t at = 0;
  for (int64_t p = 0, n = positions.numel(); p < n; ++p) {
    out[p * width] = e.array.defined() ? values[static_cast<size_t>(at)] : e.start + at;
    for (int axis = positions.rank() - 1; axis >= 0; --axis) {
      at += step[axis];
      if (++index[axis] < positions[axis]) break;
      at -= step[axis] * positions[axis];
      index[axis] = 0;
    }
  }
}

Array traced_entry(const Entry& e, const Shape& positions, Dtype dtype) {
  if (e.array.defined()) {
    Axes dims;
    for (int i = 0; i < e.array.rank(); ++i) dims.push_back(e.dim + i);
    return rules::broadcast_in_dim(rules::convert(e.array, dtype), positions, dims);
  }
  if (e.step == 0) return rules::broadcast_in_dim(Array(e.start).astype(dtype), positions, {});
  return rules::iota(positions, dtype, e.dim) * e.step + e.start;
}

// i[positions..., entries].
Array index_vectors(const Shape& positions, const std::vector<Entry>& entries, Dtype dtype) {
  const auto width = static_cast<int64_t>(entries.size());
  if (width == 1 && entries[0].array.defined() && entries[0].array.shape() == positions) {
    return expand_dims(entries[0].array, -1);
  }
  Shape shape = positions;
  shape.push_back(width);
  const bool all_known = std::all_of(entries.begin(), entries.end(), [](const Entry& e) {
    return !e.array.defined() || known(e.array).defined();
  });
  if (all_known) {
    const Array out = make_array(Aval{int64, false, shape});
    auto* data = static_cast<int64_t*>(mutable_data(out));
    for (size_t k = 0; k < entries.size(); ++k) fill_known(entries[k], positions, data + k, width);
    return out;
  }
  std::vector<Array> parts;
  for (const Entry& e : entries)
    parts.push_back(expand_dims(traced_entry(e, positions, dtype), -1));
  return rules::concatenate_axis(parts, positions.rank());
}

// A dtype for all index vectors of the plan.
Dtype index_dtype(const IndexPlan& plan) {
  bool wide =
      std::any_of(plan.base.begin(), plan.base.end(), [](int64_t n) { return n > INT32_MAX; });
  for (const AxisIndex& a : plan.axes) {
    if (!a.array.defined()) continue;
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
  const bool computes =
      Interpreter::current() == nullptr && !x.is_tracer() && &x.device() == &cpu_device();
  if (computes && !plan.arrays && in_one_piece(plan, first)) return copy_piece(x, plan, first);
  Array y = read_slices(with_shape(x, plan.base), plan);
  if (!plan.arrays) return with_shape(y, plan.result());

  GatherParams p;
  std::vector<Entry> entries;
  Shape dense;  // y without the axes of points
  for (const AxisIndex& a : plan.axes) {
    if (a.point) continue;
    if (a.array.defined()) {
      p.collapsed_dims.push_back(dense.rank());
      entries.push_back({.dim = plan.group.rank() - a.array.rank(), .array = a.array});
    }
    dense.push_back(a.array.defined() ? plan.base[static_cast<int>(&a - plan.axes.data())]
                                      : a.size);
    p.window.push_back(a.array.defined() ? 1 : a.size);
  }
  p.start_index_map = p.collapsed_dims;
  int64_t place = 0;
  for (size_t k = 0; k < plan.kept.size(); ++k) {
    if (k == plan.group_at) place += plan.group.rank();
    if (plan.kept[k] != IndexPlan::kNew) p.offset_dims.push_back(place++);
  }
  const Array indices = index_vectors(plan.group, entries, index_dtype(plan));
  return with_shape(bind1(gather_p, {with_shape(y, dense), indices}, Params::make(p)),
                    plan.result());
}

ScatterPlan plan_scatter(const IndexPlan& plan) {
  GatherParams p;
  p.clip = false;
  p.window = Shape::filled(plan.base.rank(), 1);
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
      p.window[plan.kept[k]] = a.size;
      p.offset_dims.push_back(place);
    } else {
      dim[axis] = positions.rank();
      positions.push_back(a.size);
    }
    ++place;
  }
  std::vector<Entry> entries;
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const AxisIndex& a = plan.axes[axis];
    const auto number = static_cast<int64_t>(axis);
    const bool slice = !a.array.defined() && !a.point && a.step == 1;
    if (slice && a.size == plan.base[static_cast<int>(axis)]) continue;
    p.start_index_map.push_back(number);
    if (!slice) p.collapsed_dims.push_back(number);
    if (a.array.defined()) {
      entries.push_back({.dim = group + plan.group.rank() - a.array.rank(), .array = a.array});
    } else {
      entries.push_back(
          {.start = a.start, .step = slice || a.point ? 0 : a.step, .dim = dim[axis]});
    }
  }
  return {p, index_vectors(positions, entries, index_dtype(plan))};
}

}  // namespace internal
}  // namespace spruce
