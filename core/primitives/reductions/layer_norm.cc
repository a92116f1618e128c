// SPDX-License-Identifier: Apache-2.0
// (x - mean) / sqrt(variance + eps) * weight + bias over the last axis (Ba, Kiros and Hinton 2016).
#include "spruce/core/rules/layer_norm.h"

#include <cstring>

#include "spruce/core/cpu/rows/rows.h"
#include "spruce/core/cpu/with_workspace.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/deviations.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/rows.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

template <class T>
struct Affine {
  T eps;
  const T *weight, *bias;  // one for each element of a row
};

// The sum of x[i] - shift, and in `squares`, unless it is null, that of their squares. The lanes
// are vectors of the compiler's, since it does not make such of two sums in one loop.
template <class T>
SPRUCE_INLINE T shifted_sum(const T* x, T shift, int64_t n, T* squares) {
  typedef T Vector __attribute__((vector_size(32)));
  constexpr int64_t kLanes = 32 / sizeof(T), kVectors = 4;
  Vector sums[kVectors] = {}, square_sums[kVectors] = {};
  int64_t i = 0;
  for (int64_t vectors = kVectors; vectors > 0; vectors -= kVectors - 1) {
    for (; i + vectors * kLanes <= n; i += vectors * kLanes) {
      for (int64_t k = 0; k < vectors; ++k) {
        Vector v;
        std::memcpy(&v, x + i + k * kLanes, sizeof(v));
        v -= shift;
        sums[k] += v;
        if (squares != nullptr) square_sums[k] += v * v;
      }
    }
  }
  const Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]),
               square_sum = (square_sums[0] + square_sums[1]) + (square_sums[2] + square_sums[3]);
  T total = 0, total_squares = 0;
  for (int64_t l = 0; l < kLanes; ++l) total += sum[l], total_squares += square_sum[l];
  for (; i < n; ++i) {
    const T v = x[i] - shift;
    total += v;
    total_squares += v * v;
  }
  if (squares != nullptr) *squares = total_squares;
  return total;
}

struct LayerNorm {
  template <class I, class T>
  static SPRUCE_INLINE void row(const Affine<T>& e, const T* x, T* y, int64_t n, int64_t) {
    // As internal::deviations().
    const T count = static_cast<T>(n);
    const T mean = shifted_sum(x, T(0), n, static_cast<T*>(nullptr)) / count;
    T squares;
    const T rest = shifted_sum(x, mean, n, &squares) / count;
    T variance = squares / count - rest * rest;
    variance = variance < 0 ? T(0) : variance;
    const T scale = T(1) / static_cast<T>(__builtin_sqrt(static_cast<double>(variance + e.eps)));
    const T *w = e.weight, *b = e.bias;
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean - rest) * scale * w[i] + b[i];
  }
};

// What n numbers take in the type of computation, where they do not stand in it.
size_t copied_bytes(const Aval& v, int64_t n) {
  const bool half = is_half(v.dtype);
  if (v.numel() == n && !half) return 0;
  return static_cast<size_t>(n) * (half ? sizeof(float) : static_cast<size_t>(size_of(v.dtype)));
}

// n numbers, in `memory` unless they stand so; v may hold one for all.
template <class T>
const T* to_compute(const View& v, int64_t n, const cpu::Workspace& memory) {
  T* const to = memory.as<T>();
  if (to == nullptr) return v.as<const T>();
  const int64_t step = v.numel() == n ? 1 : 0;
  visit_dtype(v.dtype(), [&]<class X>(X) {
    if constexpr (!std::is_integral_v<X>) {
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(v.as<X>()[i * step]);
    }
  });
  return to;
}

void layer_norm_kernel(const KernelArgs& a) {
  const double eps = a.params.get<LayerNormParams>().eps;
  const int64_t n = a.in[0].shape().back();
  const cpu::Workspace weight(copied_bytes(*a.in[1].aval, n)), bias(copied_bytes(*a.in[2].aval, n));
  cpu::run_rows<LayerNorm, Affine>(a.in[0], a.out[0], [&]<class T>(T) {
    return Affine<T>{static_cast<T>(eps), to_compute<T>(a.in[1], n, weight),
                     to_compute<T>(a.in[2], n, bias)};
  });
}

std::unique_ptr<const PreparedKernel> layer_norm_prepare(const PrepareArgs& a) {
  const int64_t n = a.in[0]->shape.back();
  size_t bytes = cpu::rows_workspace(*a.in[0]);
  for (size_t i = 1; i < 3; ++i) bytes += cpu::workspace_size(copied_bytes(*a.in[i], n));
  return cpu::with_workspace(layer_norm_kernel, bytes);
}

Aval shape(const ShapeArgs& a) {
  const Aval out = rules::rows_floating(a);
  for (size_t i = 1; i < 3; ++i) {
    const Shape& got = a.in[i]->shape;
    if (a.in[i]->dtype != out.dtype || !(got == Shape{out.shape.back()} || got == Shape{1})) {
      throw ShapeError("layer_norm: x is " + to_string(out) + ", so weight and bias must be " +
                       to_string(Aval{out.dtype, false, Shape{out.shape.back()}}) + "; got " +
                       to_string(*a.in[i]));
    }
  }
  return out;
}

std::vector<Array> layer_norm_expand(std::span<const Array> in, const Params& params) {
  const internal::Deviations d = internal::deviations(in[0], {in[0].rank() - 1});
  const auto n = static_cast<double>(in[0].shape().back());
  // In f32 for f16, in which the derivative of a small variance is infinite.
  const Array wide = rsqrt(d.of_squares / n + params.get<LayerNormParams>().eps);
  const Array scale = rules::convert(wide, in[0].dtype());
  const auto of_rows = [](const Array& v) { return expand_dims(v, -1); };
  return {(d.from_mean * of_rows(scale) - of_rows(d.rest * scale)) * in[1] + in[2]};
}

void batch(const BatchArgs& a) {
  if (!a.batched[1] && !a.batched[2]) {
    a.out[0] = bind1(a.p, a.in, a.params);
    return;
  }
  // A weight for each slice: normalise all rows alike, then scale.
  const Array &w = a.in[1], &b = a.in[2];
  const int64_t n = a.in[0].shape().back();
  const Array x = rules::materialize_batch(a.in[0], a.batched[0], a.size);
  const Array plain = bind1(a.p, {x, ones({n}, x.dtype()), zeros({n}, x.dtype())}, a.params);
  const auto spread = [&](const Array& v, bool batched) {
    if (!batched) return v;
    Shape shape = Shape::filled(x.rank(), 1);
    shape[0] = a.size;
    shape.back() = v.shape().back();
    return v.reshape(shape);
  };
  a.out[0] = plain * spread(w, a.batched[1]) + spread(b, a.batched[2]);
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Shape& shape : {Shape{5}, Shape{3, 4}, Shape{2, 2, 6}, Shape{0, 3}}) {
    Sample s;
    for (const Shape& in : {shape, Shape{shape.back()}, Shape{shape.back()}}) {
      SampleInput input;
      input.aval = Aval{Dtype::kFloat32, false, in};
      input.distinct = true;
      s.in.push_back(input);
    }
    s.params = Params::make(LayerNormParams{1e-5});
    out.push_back(s);
    s.in[1].aval.shape = s.in[2].aval.shape = Shape{1};
    out.push_back(s);
  }
  return out;
}

// Scale and shift are the same for all rows.
rules::RowReads layer_norm_rows(const RowArgs& a) {
  if (a.out[0]->shape.rank() < 2 || !rules::has_rows(*a.in[0], a.all)) return {};
  std::vector<RowRead> reads(a.in.size(), RowRead::kWhole);
  reads[0] = RowRead::kRows;
  return reads;
}

}  // namespace

extern constinit const Primitive layer_norm_p = {
    .name = "layer_norm",
    .shape = shape,
    .cpu = layer_norm_kernel,
    .batch = batch,
    .samples = samples,
    .params = kParamsOf<LayerNormParams>,
    .expand = layer_norm_expand,
    .prepare = layer_norm_prepare,
    .flops = rules::flops_per_output<8>,
    .rows = layer_norm_rows,
};

}  // namespace spruce
