// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/index_maps.h"

#include <algorithm>

#include "spruce/core/graph/build.h"
#include "spruce/core/rules/axes.h"

namespace spruce::rules {

IndexMap identity_map(const Shape& shape) {
  const Shape zeros = Shape::filled(shape.rank(), 0), ones = Shape::filled(shape.rank(), 1);
  return {0, zeros, ones, shape, zeros, axis_range(0, shape.rank()), ones};
}

IndexMap transpose_map(const Axes& perm, const Shape& out) {
  IndexMap m = identity_map(out);
  m.axis = perm;
  return m;
}

IndexMap slice_map(const Shape& start, const Shape& stride, const Shape& out) {
  IndexMap m = identity_map(out);
  m.from = start;
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] > 1) m.stride[i] = stride[i];  // of a single element it may be any number
  }
  return m;
}

std::optional<IndexMap> reshape_map(const Shape& in, const Shape& out) {
  IndexMap m = identity_map(out);
  m.from = Shape::filled(in.rank(), 0);
  std::fill(m.axis.begin(), m.axis.end(), -1);
  int j = 0;
  for (int k = 0; k < in.rank(); ++k) {
    for (int64_t left = in[k]; left > 1; ++j) {
      if (j == out.rank() || out[j] == 0 || left % out[j] != 0) return std::nullopt;
      left /= out[j];
      if (out[j] != 1) m.axis[j] = k, m.stride[j] = left;
    }
  }
  return m;
}

std::vector<IndexMap> index_maps_of(const Graph& graph, const Equation& e) {
  if (e.primitive->index_maps == nullptr) return {};
  return e.primitive->index_maps({types_of(graph, e.inputs), types_of(graph, e.outputs), e.params});
}

bool covers(const IndexMap& m, const Shape& out) {
  for (int i = 0; i < out.rank(); ++i) {
    if (m.count[i] != out[i] || m.begin[i] != 0 || (m.step[i] != 1 && out[i] > 1)) return false;
  }
  return true;
}

bool reads_part(const IndexMap& m, const Shape& in) {
  int64_t read = 1;
  for (int i = 0; i < m.count.rank(); ++i) read *= m.axis[i] < 0 ? 1 : m.count[i];
  return read < in.numel();
}

namespace {

// The part of a map at `count` places from number `first` on along an axis.
IndexMap part_of(const IndexMap& m, int axis, int64_t first, int64_t count) {
  IndexMap part = m;
  part.begin[axis] += first * m.step[axis];
  part.count[axis] = count;
  if (m.axis[axis] >= 0) part.from[m.axis[axis]] += first * m.stride[axis];
  return part;
}

bool is_box(const IndexMap& m) {
  for (int i = 0; i < m.count.rank(); ++i) {
    if (m.step[i] != 1 && m.count[i] > 1) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<IndexMap>> disjoint(const std::vector<IndexMap>& maps) {
  std::vector<IndexMap> all;
  for (const IndexMap& m : maps) {
    if (m.count.numel() == 0) continue;
    std::vector<IndexMap> left;
    bool met = false;
    for (IndexMap& other : all) {
      bool meet = true;
      for (int i = 0; i < m.count.rank(); ++i) {
        meet = meet && other.begin[i] < m.begin[i] + m.count[i] * m.step[i] &&
               m.begin[i] < other.begin[i] + other.count[i] * other.step[i];
      }
      if (!meet) {
        left.push_back(std::move(other));
        continue;
      }
      met = true;
      if (!is_box(m) || !is_box(other)) return std::nullopt;
      // Along each axis what lies before and behind, within the box along the axes before it.
      for (int i = 0; i < m.count.rank(); ++i) {
        const int64_t n = other.count[i],
                      first = std::clamp<int64_t>(m.begin[i] - other.begin[i], 0, n),
                      end = std::clamp<int64_t>(m.begin[i] + m.count[i] - other.begin[i], first, n);
        if (first > 0) left.push_back(part_of(other, i, 0, first));
        if (end < n) left.push_back(part_of(other, i, end, n - end));
        other = part_of(other, i, first, end - first);
      }
    }
    left.insert(met ? left.begin() : left.end(), m);  // what is inside of others is the most
    all = std::move(left);
  }
  return all;
}

MappedMemory memory_of_input(const IndexMap& m, const Shape& strides) {
  MappedMemory r{0, m.stride};
  for (int k = 0; k < strides.rank(); ++k) r.offset += m.from[k] * strides[k];
  for (int i = 0; i < m.axis.rank(); ++i) r.strides[i] *= m.axis[i] < 0 ? 0 : strides[m.axis[i]];
  return r;
}

MappedMemory memory_of_output(const IndexMap& m, const Shape& strides) {
  MappedMemory r{0, m.step};
  for (int i = 0; i < strides.rank(); ++i) {
    r.offset += m.begin[i] * strides[i];
    r.strides[i] *= strides[i];
  }
  return r;
}

}  // namespace spruce::rules
