// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/dynamic_slice.h"

#include <algorithm>

#include "spruce/core/rules/shape.h"

namespace spruce::rules {

void check_starts(const ShapeArgs& a, const Aval& x, const Shape& window, Avals starts) {
  const int rank = x.shape.rank();
  bool fits = window.rank() == rank;
  for (int i = 0; fits && i < rank; ++i) fits = 0 <= window[i] && window[i] <= x.shape[i];
  if (!fits) {
    throw ShapeError(std::string(a.op) + ": a window " + to_string(window) + " does not fit into " +
                     to_string(x) + "; it needs a size for each axis, not above that of the axis");
  }
  if (starts.size() != static_cast<size_t>(rank)) {
    throw ShapeError(std::string(a.op) + ": " + std::to_string(starts.size()) +
                     " start positions are given for " + to_string(x) +
                     "; give one for each of its " + std::to_string(rank) + " axes");
  }
  for (const Aval* s : starts) {
    if (!is_integer(s->dtype)) {
      throw DtypeError(std::string(a.op) + ": a start position is " + to_string(*s) +
                       "; it must be an integer");
    }
    if (!s->shape.empty()) {
      throw ShapeError(std::string(a.op) + ": a start position is " + to_string(*s) +
                       "; it must be of rank 0");
    }
  }
}

int64_t clamped_offset(const Shape& x, const Shape& window, std::span<const View> starts) {
  const Shape strides = row_major_strides(x);
  int64_t offset = 0;
  for (int i = 0; i < x.rank(); ++i) {
    const View& v = starts[static_cast<size_t>(i)];
    const int64_t last = x[i] - window[i];
    const int64_t start = visit_dtype(v.dtype(), [&]<class T>(T) -> int64_t {
      if constexpr (std::is_same_v<T, uint64_t>)
        return static_cast<int64_t>(std::min(*v.as<T>(), static_cast<uint64_t>(last)));
      else
        return static_cast<int64_t>(*v.as<T>());
    });
    offset += std::clamp<int64_t>(start, 0, last) * strides[i];
  }
  return offset;
}

std::vector<Array> starts_with_front(std::span<const Array> starts) {
  std::vector<Array> out{scalar_of(Dtype::kInt32, 0)};
  out.insert(out.end(), starts.begin(), starts.end());
  return out;
}

Array stacked_starts(std::span<const Array> starts, std::span<const bool> batched, int64_t batch) {
  bool wide = false;
  for (const Array& s : starts)
    wide = wide || size_of(s.dtype()) == 8 || s.dtype() == Dtype::kUint32;
  std::vector<Array> columns;
  for (size_t i = 0; i < starts.size(); ++i) {
    const Array column = convert(starts[i], wide ? Dtype::kInt64 : Dtype::kInt32);
    columns.push_back(broadcast_in_dim(column, {batch, 1}, batched[i] ? Axes{0} : Axes{}));
  }
  if (columns.empty()) return iota({batch, 0}, Dtype::kInt32, 0);
  return concatenate_axis(columns, 1);
}

GatherParams window_params(const Shape& window) {
  GatherParams p;
  for (int i = 1; i <= window.rank(); ++i) {
    p.offset_dims.push_back(i);
    p.start_index_map.push_back(i);
  }
  p.operand_batch_dims = {0};
  p.indices_batch_dims = {0};
  p.window = with_front(window, 1);
  return p;
}

Sample dynamic_sample(const std::vector<Shape>& shapes, const std::vector<double>& starts,
                      Params params) {
  Sample s = sample_of(shapes, Dtype::kFloat32, std::move(params));
  for (const double start : starts) {
    SampleInput in;
    in.aval = Aval{Dtype::kInt32, false, {}};
    in.values = {start};
    s.in.push_back(in);
  }
  return s;
}

}  // namespace spruce::rules
