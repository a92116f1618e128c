// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/jacobian.h"

#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/shape.h"

namespace spruce::internal {

Array standard_basis(const Array& x) {
  Shape shape = x.shape();
  shape.insert(0, x.size());
  return reshape(identity(x.size(), x.dtype()), shape);
}

Array split_last(const Array& a, const Shape& x) {
  Shape shape = a.shape();
  shape.erase(shape.rank() - 1);
  for (const int64_t d : x) shape.push_back(d);
  return reshape(a, shape);
}

Array split_first(const Array& a, const Shape& out) {
  Shape shape = out;
  for (int i = 1; i < a.rank(); ++i) shape.push_back(a.shape()[i]);
  return reshape(a, shape);
}

void check_jacobian_input(const char* op, const Array& x) {
  if (!is_floating(x.dtype())) {
    throw DerivativeError(std::string(op) + ": takes the derivative of floating values, got " +
                          to_string(x.aval()) + "; convert with astype");
  }
}

Array join(const std::vector<Array>& leaves) {
  if (leaves.empty()) return zeros({0});
  Dtype dtype = leaves[0].dtype();
  for (const Array& a : leaves) dtype = promote(dtype, a.dtype());
  std::vector<Array> flat;
  for (const Array& a : leaves) flat.push_back(reshape(astype(a, dtype), {-1}));
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
