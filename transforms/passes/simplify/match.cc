// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/simplify/match.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/rules/shape.h"

namespace spruce::passes {

std::optional<double> number(const Rewriter& r, ValueId v) {
  constexpr int64_t kMostBytes = 4096;
  const Equation* e = r.source(v);
  while (e != nullptr && (e->primitive == &broadcast_in_dim_p || e->primitive == &reshape_p)) {
    if (r.aval(v).numel() == 0) return std::nullopt;
    v = e->inputs[0];
    e = r.source(v);
  }
  const Array* a = r.constant(v);
  if (a == nullptr || a->is_tracer() || a->size() == 0 || a->nbytes() > kMostBytes ||
      a->aval().device != 0)
    return std::nullopt;
  const char* data = static_cast<const char*>(internal::mutable_data(*a));
  const int64_t one = size_of(a->dtype());
  if (std::memcmp(data, data + one, static_cast<size_t>(a->nbytes() - one)) != 0)
    return std::nullopt;
  return visit_dtype(a->dtype(), [&]<class T>(T x) -> std::optional<double> {
    std::memcpy(&x, data, sizeof x);
    if constexpr (kIsHalf<T>)
      return static_cast<double>(static_cast<float>(x));
    else
      return static_cast<double>(x);
  });
}

ValueId fit(Rewriter& r, ValueId v, const Shape& shape) {
  if (r.shape(v) == shape) return v;
  Axes dims;
  for (int i = shape.rank() - r.shape(v).rank(); i < shape.rank(); ++i) dims.push_back(i);
  return broadcast(r, v, shape, dims);
}

ValueId broadcast(Rewriter& r, ValueId v, const Shape& shape, const Axes& dims) {
  if (r.shape(v) == shape) return v;
  return r.emit(broadcast_in_dim_p, Params::make(BroadcastInDimParams{shape, dims}), {v});
}

ValueId transposed(Rewriter& r, ValueId v, const Axes& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return v;
  return r.emit(transpose_p, Params::make(TransposeParams{perm}), {v});
}

ValueId reshaped(Rewriter& r, ValueId v, const Shape& shape) {
  if (r.shape(v) == shape) return v;
  return r.emit(reshape_p, Params::make(ReshapeParams{shape}), {v});
}

Shape broadcast_shape(const Rewriter& r, const Equation& e) {
  Shape s = r.shape(e.inputs[0]);
  for (size_t i = 1; i < e.inputs.size(); ++i)
    s = broadcast_shapes(e.primitive->name, s, r.shape(e.inputs[i]));
  return s;
}

}  // namespace spruce::passes
