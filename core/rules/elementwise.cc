// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/elementwise.h"

#include <string_view>
#include <utility>

#include "spruce/core/default_device.h"
#include "spruce/core/public_name.h"
#include "spruce/core/rules/fill.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce::rules {
namespace {

std::string list(Avals in) {
  std::string s;
  for (size_t i = 0; i < in.size(); ++i) s += (i > 0 ? ", " : "") + to_string(*in[i]);
  return s;
}

[[noreturn]] void throw_no_broadcast(const ShapeArgs& a, const Shape& x, const Shape& y) {
  const auto size = [](const Shape& s, int i) { return s[s.rank() - i]; };
  int i = 1;
  while (size(x, i) == size(y, i) || size(x, i) == 1 || size(y, i) == 1) ++i;
  throw ShapeError(spruce::internal::public_name(a.op) + ": " + list(a.in) +
                   " do not broadcast: axis " + std::to_string(-i) + " has sizes " +
                   std::to_string(size(x, i)) + " and " + std::to_string(size(y, i)) +
                   "; sizes must be equal or 1, aligned at the last axis");
}

void require(const ShapeArgs& a, bool ok, const char* wanted) {
  if (!ok) {
    throw DtypeError(spruce::internal::public_name(a.op) + ": takes " + wanted + ", got " +
                     list(a.in) + "; convert with astype");
  }
}

}  // namespace

Aval same(const ShapeArgs& a) { return *a.in[0]; }

Aval same_floating(const ShapeArgs& a) {
  require(a, is_floating(a.in[0]->dtype), "floating values");
  return *a.in[0];
}

Aval same_numeric(const ShapeArgs& a) {
  require(a, !is_bool(a.in[0]->dtype), "numbers, not bool");
  return *a.in[0];
}

Aval same_integral(const ShapeArgs& a) {
  require(a, !is_floating(a.in[0]->dtype), "bool or integers");
  return *a.in[0];
}

Aval broadcast(const ShapeArgs& a) {
  Aval out = *a.in[0];
  for (size_t i = 1; i < a.in.size(); ++i) {
    const Aval& x = *a.in[i];
    if (x.dtype != out.dtype) {
      throw DtypeError(spruce::internal::public_name(a.op) + ": the dtypes differ: " + list(a.in) +
                       "; convert one with astype");
    }
    if (!(x.shape == out.shape)) {
      try {
        out.shape = broadcast_shapes(a.op, out.shape, x.shape);
      } catch (const ShapeError&) {
        throw_no_broadcast(a, out.shape, x.shape);
      }
    }
    out.weak = out.weak && x.weak;
  }
  return out;
}

Aval broadcast_numeric(const ShapeArgs& a) {
  require(a, !is_bool(a.in[0]->dtype), "numbers, not bool");
  return broadcast(a);
}

Aval broadcast_floating(const ShapeArgs& a) {
  require(a, is_floating(a.in[0]->dtype), "floating values");
  return broadcast(a);
}

Aval broadcast_integral(const ShapeArgs& a) {
  require(a, !is_floating(a.in[0]->dtype), "bool or integers");
  return broadcast(a);
}

Aval broadcast_integer(const ShapeArgs& a) {
  require(a, is_integer(a.in[0]->dtype), "integers");
  return broadcast(a);
}

Aval broadcast_compare(const ShapeArgs& a) {
  Aval out = broadcast(a);
  out.dtype = Dtype::kBool;
  out.weak = false;
  return out;
}

Aval predicate_floating(const ShapeArgs& a) {
  require(a, is_floating(a.in[0]->dtype), "floating values");
  return Aval{Dtype::kBool, false, a.in[0]->shape};
}

Array broadcast_tangent(const Array& t, const Shape& shape) { return broadcast_last(t, shape); }

Array unbroadcast(const Array& ct, const Shape& shape) {
  if (ct.shape() == shape) return ct;
  const int extra = ct.rank() - shape.rank();
  Axes axes;
  for (int i = 0; i < ct.rank(); ++i) {
    if (i < extra || (shape[i - extra] == 1 && ct.shape()[i] != 1)) axes.push_back(i);
  }
  const Array summed =
      axes.empty() ? ct : bind1(reduce_sum_p, {ct}, Params::make(ReduceParams{axes}));
  return reshaped(summed, shape);
}

Array add_tangents(const Array& a, const Array& b) {
  if (!a.defined()) return b;
  return b.defined() ? a + b : a;
}

Array scalar_like(double value, const Array& x) {
  const Array y = spruce::internal::make_array(Aval{x.dtype(), true, Shape{}});
  write_number(x.dtype(), value, spruce::internal::mutable_data(y));
  return y;
}

Array zeros_of(const Aval& aval) {
  const DefaultDevice here(aval.device);
  return filled("zeros", aval.shape, scalar_of(aval.dtype, 0));
}

void jvp_zero(const JvpArgs& a) {
  const std::vector<Array> out = bind_all(a.p, a.in, a.params);
  for (size_t k = 0; k < out.size(); ++k) a.out[k] = out[k];
}

void jvp_linear(const JvpArgs& a) {
  std::vector<Array> t(a.tangents.begin(), a.tangents.end());
  for (size_t i = 0; i < t.size(); ++i) {
    if (!t[i].defined()) t[i] = zeros_of(a.in[i].aval());
  }
  const std::vector<Array> out = bind_all(a.p, a.in, a.params), out_t = bind_all(a.p, t, a.params);
  for (size_t k = 0; k < out.size(); ++k) {
    a.out[k] = out[k];
    a.out_tangents[k] = out_t[k];
  }
}

std::vector<Array> align_batched(const BatchArgs& a) {
  int rank = 0;
  for (size_t i = 0; i < a.in.size(); ++i)
    rank = std::max(rank, a.in[i].rank() - (a.batched[i] ? 1 : 0));
  std::vector<Array> in(a.in.begin(), a.in.end());
  for (size_t i = 0; i < in.size(); ++i) {
    if (!a.batched[i] || in[i].rank() == rank + 1) continue;
    Shape shape = in[i].shape();
    while (shape.rank() < rank + 1) shape.insert(1, 1);
    in[i] = reshaped(in[i], shape);
  }
  return in;
}

void batch_elementwise(const BatchArgs& a) { a.out[0] = bind1(a.p, align_batched(a), a.params); }

Array materialize_batch(const Array& x, bool batched, int64_t size) {
  if (batched) return x;
  Shape shape = x.shape();
  shape.insert(0, size);
  return broadcast_last(x, shape);
}

std::vector<Sample> valued_samples(const std::vector<double>& values) {
  const auto n = static_cast<int64_t>(values.size());
  std::vector<Sample> samples;
  for (const Shape& shape : {Shape{n}, Shape{1, n}}) {
    SampleInput in;
    in.aval = Aval{Dtype::kFloat32, false, shape};
    in.values = values;
    Sample s;
    s.in.push_back(in);
    samples.push_back(s);
  }
  return samples;
}

std::vector<Sample> joined(std::vector<Sample> a, const std::vector<Sample>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

namespace internal {

std::vector<Sample> samples_over(const std::vector<std::vector<Shape>>& shapes, Dtype dtype,
                                 double low, double high) {
  std::vector<Sample> samples;
  for (const auto& inputs : shapes) {
    Sample s;
    for (const Shape& shape : inputs) {
      SampleInput in;
      in.aval = Aval{dtype, false, shape};
      in.low = low;
      in.high = high;
      in.distinct = true;
      s.in.push_back(in);
    }
    samples.push_back(s);
  }
  return samples;
}

std::vector<std::vector<Shape>> unary_shapes() {
  return {{{}}, {{7}}, {{2, 3}}, {{0, 3}}, {{2, 1, 3}}};
}

std::vector<std::vector<Shape>> binary_shapes() {
  return {{{}, {}},      {{5}, {5}},          {{2, 3}, {2, 3}}, {{2, 3}, {3}},
          {{3}, {2, 3}}, {{2, 1}, {1, 3}},    {{2, 3}, {}},     {{}, {4}},
          {{0, 3}, {3}}, {{2, 1, 3}, {4, 1}}, {{1}, {3}}};
}

}  // namespace internal
}  // namespace spruce::rules
