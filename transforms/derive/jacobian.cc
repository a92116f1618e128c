// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/derive/jacobian.h"

#include <algorithm>

#include "spruce/core/default_device.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"

namespace spruce::internal {

void Coordinates::add(const Array& leaf, tree::Leaf kind) {
  if (!leaf.defined()) {
    leaves_.push_back({Aval{}, false, false, n_});
    return;
  }
  const bool counts = kind == tree::Leaf::kArray && is_floating(leaf.dtype());
  leaves_.push_back({leaf.aval(), true, counts, n_});
  if (counts) n_ += leaf.size();
}

bool Coordinates::any() const {
  return std::any_of(leaves_.begin(), leaves_.end(), [](const Leaf& l) { return l.floating; });
}

void Coordinates::check_all(const char* op) const {
  for (const Leaf& l : leaves_) {
    if (l.defined && !l.floating) {
      throw DerivativeError(std::string(op) + ": takes the derivative of floating values, got " +
                            to_string(l.aval) + " as a result; convert with astype");
    }
  }
}

std::vector<Array> Coordinates::basis() const {
  std::vector<Array> parts;
  for (const Leaf& l : leaves_) {
    if (!l.floating) continue;
    Shape shape = l.aval.shape;
    const int64_t size = shape.numel();
    shape.insert(0, n_);
    const DefaultDevice here(device_among(std::span(&l.aval, 1)));
    const Array rows = eye(n_, {.columns = size, .offset = -l.start, .dtype = l.aval.dtype});
    parts.push_back(rules::convert(reshape(rows, shape), l.aval.dtype, l.aval.weak));
  }
  return parts;
}

std::vector<Array> Coordinates::split_last(const Array& columns) const {
  std::vector<Array> parts;
  for (const Leaf& l : leaves_) {
    if (!l.defined || !columns.defined()) {
      parts.push_back(Array());
      continue;
    }
    Shape shape = columns.shape();
    shape.erase(shape.rank() - 1);
    for (const int64_t d : l.aval.shape) shape.push_back(d);
    if (!l.floating) {
      const DefaultDevice here(device_among(std::span(&l.aval, 1)));
      parts.push_back(zeros(shape, l.aval.dtype));
      continue;
    }
    const int64_t size = l.aval.shape.numel();
    const Array part = size == n_ ? columns : columns[{ellipsis, slice(l.start, l.start + size)}];
    parts.push_back(reshape(part, shape));
  }
  return parts;
}

std::vector<Array> Coordinates::split_first(const Array& rows) const {
  std::vector<Array> parts;
  for (const Leaf& l : leaves_) {
    if (!l.defined) {
      parts.push_back(Array());
      continue;
    }
    Shape shape = l.aval.shape;
    for (int i = 1; i < rows.rank(); ++i) shape.push_back(rows.shape()[i]);
    const int64_t size = l.aval.shape.numel();
    parts.push_back(reshape(size == n_ ? rows : rows[slice(l.start, l.start + size)], shape));
  }
  return parts;
}

std::vector<Array> Coordinates::spread(std::span<const Array> floating) const {
  std::vector<Array> all(leaves_.size());
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (leaves_[i].floating) all[i] = floating[next++];
  }
  return all;
}

Array join(const std::vector<tree::Entry>& leaves) {
  if (leaves.empty()) return zeros({0});
  for (const tree::Entry& e : leaves)
    require_defined("tree::ravel", e.path.empty() ? "x" : e.path.c_str(), e.value);
  Dtype dtype = leaves[0].value.dtype();
  for (const tree::Entry& e : leaves) dtype = promote(dtype, e.value.dtype());
  std::vector<Array> flat;
  for (const tree::Entry& e : leaves) flat.push_back(reshape(astype(e.value, dtype), {-1}));
  return concatenate(flat, 0);
}

std::vector<Array> split_like(const Array& vector, const std::vector<Array>& leaves) {
  int64_t total = 0;
  for (const Array& a : leaves) total += a.size();
  if (vector.rank() != 1 || vector.size() != total) {
    throw ShapeError("tree::unravel: the vector is " + to_string(vector.aval()) +
                     ", the tree has " + std::to_string(total) + " elements");
  }
  std::vector<Array> parts;
  int64_t at = 0;
  for (const Array& a : leaves) {
    parts.push_back(astype(reshape(vector[slice(at, at + a.size())], a.shape()), a.dtype()));
    at += a.size();
  }
  return parts;
}

}  // namespace spruce::internal
