// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/matrices.h"

#include <algorithm>
#include <string>

#include "spruce/core/default_device.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/rules/shape.h"

namespace spruce::internal {

Array floating_matrix(const char* op, const Array& a) {
  rules::check_matrix(op, a.aval());
  return is_floating(a.dtype()) ? a : rules::convert(a, float32);
}

Array square_matrix(const char* op, const Array& a, const char* advice) {
  rules::check_square(op, a.aval(), advice);
  return floating_matrix(op, a);
}

LinearSystem::LinearSystem(const char* op, const Array& given_a, const Array& given_b,
                           const char* advice)
    : a(square_matrix(op, given_a, advice)), b(given_b), vector(given_b.rank() == 1) {
  const int64_t n = a.shape().back();
  if (b.rank() == 0 || b.shape()[vector ? 0 : b.rank() - 2] != n) {
    throw ShapeError(
        std::string(op) + ": takes a, f[..., n, n], and b, f[n] or f[..., n, k], got " +
        to_string(given_a.aval()) + " and " + to_string(given_b.aval()) + "; give b the rows of a");
  }
  const Dtype dtype = promote(a.dtype(), a.weak(), b.dtype(), b.weak());
  a = rules::convert(a, dtype), b = rules::convert(b, dtype);
  if (vector) b = expand_dims(b, -1);
  const auto front = [](const Array& x) {
    return Shape(std::span<const int64_t>(x.shape().data(), static_cast<size_t>(x.rank() - 2)));
  };
  const auto in_batch = [](const Array& x, Shape shape) {
    shape.push_back(x.shape()[x.rank() - 2]);
    shape.push_back(x.shape().back());
    return broadcast_to(x, shape);
  };
  if (a.rank() == 2 && b.rank() > 2) {
    batch = front(b), columns = b.shape().back();
    b = rules::reshaped(moveaxis(b, -2, 0), {n, batch.numel() * columns});
    return;
  }
  const Shape common = broadcast_shapes(op, front(a), front(b));
  a = in_batch(a, common), b = in_batch(b, common);
}

Array LinearSystem::like_b(const Array& x) const {
  if (vector) return squeeze(x, -1);
  if (batch.empty()) return x;
  Shape shape = batch;
  shape.insert(0, x.shape()[0]);
  shape.push_back(columns);
  return moveaxis(rules::reshaped(x, shape), 0, -2);
}

Array identity_like(const Array& x) {
  const SameDevice here(x);
  return eye(x.shape()[x.rank() - 2], x.shape().back(), {.dtype = x.dtype()});
}

Array above_rtol(const Array& a, const Array& s, const linalg::RankOptions& options,
                 double factor) {
  const int64_t larger = std::max(a.shape()[a.rank() - 2], a.shape().back());
  const double rtol = options.rtol >= 0 ? options.rtol
                                        : factor * static_cast<double>(larger) *
                                              finfo(promote(a.dtype(), float32)).eps;
  if (s.shape().back() == 0) return greater(s, s);
  return greater(s, max(s, -1, {.keepdims = true}) * rtol);
}

}  // namespace spruce::internal
