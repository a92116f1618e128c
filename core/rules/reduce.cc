// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/reduce.h"

#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce::rules {
namespace {

const Axes& checked_axes(const ShapeArgs& a) {
  const Axes& axes = a.params.get<ReduceParams>().axes;
  const int rank = a.in[0]->shape.rank();
  for (int i = 0; i < axes.rank(); ++i) {
    (void)settled_axis(a.op, axes[i], rank);
    if (i > 0 && axes[i] <= axes[i - 1]) {
      throw ShapeError(std::string(a.op) + ": axes " + to_string(axes) +
                       " must rise and be counted from the front");
    }
  }
  return axes;
}

void require_type(const ShapeArgs& a, bool ok, const char* wanted) {
  if (!ok) {
    throw DtypeError(std::string(a.op) + ": takes " + wanted + ", got " + to_string(*a.in[0]) +
                     "; convert with astype");
  }
}

[[noreturn]] void throw_empty(const ShapeArgs& a, const std::string& axes) {
  throw ShapeError(
      std::string(a.op) + ": " + to_string(*a.in[0]) + " has no elements along " + axes +
      ", and none of nothing is the largest or smallest; reduce an array with elements there");
}

}  // namespace

Aval reduced(const ShapeArgs& a) {
  const Aval& x = *a.in[0];
  return {x.dtype, x.weak, without_axes(x.shape, checked_axes(a))};
}

Aval reduced_numeric(const ShapeArgs& a) {
  require_type(a, !is_bool(a.in[0]->dtype), "numbers, not bool");
  return reduced(a);
}

Aval reduced_integral(const ShapeArgs& a) {
  require_type(a, !is_floating(a.in[0]->dtype), "bool or integers");
  return reduced(a);
}

Aval reduced_nonempty(const ShapeArgs& a) {
  const Aval out = reduced(a);
  const Axes& axes = a.params.get<ReduceParams>().axes;
  for (const int64_t axis : axes) {
    if (a.in[0]->shape[static_cast<int>(axis)] == 0) throw_empty(a, "axes " + to_string(axes));
  }
  return out;
}

Aval arg_reduced(const ShapeArgs& a) {
  const auto& p = a.params.get<ArgReduceParams>();
  const Aval& x = *a.in[0];
  const int axis = settled_axis(a.op, p.axis, x.shape.rank());
  if (x.shape[axis] == 0) throw_empty(a, "axis " + std::to_string(axis));
  if (!is_integer(p.index_dtype)) {
    throw DtypeError(std::string(a.op) + ": positions are integers, not " +
                     std::string(name(p.index_dtype)));
  }
  return {p.index_dtype, false, without_axes(x.shape, {axis})};
}

Aval cumulative(const ShapeArgs& a) {
  require_type(a, !is_bool(a.in[0]->dtype), "numbers, not bool");
  (void)settled_axis(a.op, a.params.get<CumulativeParams>().axis, a.in[0]->shape.rank());
  return *a.in[0];
}

Aval cumulative_floating(const ShapeArgs& a) {
  require_type(a, is_floating(a.in[0]->dtype), "floating values");
  return cumulative(a);
}

Shape without_axes(const Shape& shape, const Axes& axes) {
  Shape out;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!axes.contains(i)) out.push_back(shape[i]);
  }
  return out;
}

Array summable(const Array& x) {
  if (is_floating(x.dtype()) || size_of(x.dtype()) >= 4) return x;
  return convert(x, is_unsigned_integer(x.dtype()) ? uint32 : int32);
}

Array broadcast_reduced(const Array& y, const Shape& shape, const Axes& axes) {
  return axes.empty() ? y : broadcast_in_dim(y, shape, other_axes(shape.rank(), axes));
}

void jvp_extremum(const JvpArgs& a) {
  const Axes& axes = a.params.get<ReduceParams>().axes;
  const Array &x = a.in[0], &t = a.tangents[0];
  a.out[0] = bind1(a.p, a.in, a.params);
  const Array chosen = convert(x == broadcast_reduced(a.out[0], x.shape(), axes), t.dtype());
  const Array total = bind1(reduce_sum_p, {t * chosen}, a.params),
              count = bind1(reduce_sum_p, {chosen}, a.params);
  a.out_tangents[0] = total / count;
}

void batch_reduce(const BatchArgs& a) {
  a.out[0] =
      bind1(a.p, a.in, Params::make(ReduceParams{shifted(a.params.get<ReduceParams>().axes)}));
}

void batch_arg_reduce(const BatchArgs& a) {
  ArgReduceParams p = a.params.get<ArgReduceParams>();
  ++p.axis;
  a.out[0] = bind1(a.p, a.in, Params::make(p));
}

void batch_cumulative(const BatchArgs& a) {
  CumulativeParams p = a.params.get<CumulativeParams>();
  ++p.axis;
  a.out[0] = bind1(a.p, a.in, Params::make(p));
}

std::vector<Sample> reduce_nonempty_samples() {
  std::vector<Sample> out;
  const auto add = [&](const Shape& shape, const Axes& axes) {
    out.push_back(sample_of({shape}, Params::make(ReduceParams{axes})));
  };
  add({}, {});
  add({7}, {0});
  add({2, 3}, {0});
  add({2, 3}, {1});
  add({2, 3}, {0, 1});
  add({2, 3}, {});
  add({2, 3, 4}, {1});
  add({2, 3, 4}, {0, 2});
  add({1, 3, 1}, {0, 2});
  add({0, 3}, {1});
  return out;
}

std::vector<Sample> reduce_samples() {
  std::vector<Sample> out = reduce_nonempty_samples();
  out.push_back(sample_of({{0, 3}}, Params::make(ReduceParams{{0}})));
  out.push_back(sample_of({{2, 0}}, Params::make(ReduceParams{{0, 1}})));
  return out;
}

std::vector<Sample> reduce_bool_samples() {
  std::vector<Sample> out = reduce_samples();
  for (size_t i = 0; i < out.size(); ++i) {
    SampleInput& in = out[i].in[0];
    in.aval.dtype = i % 3 == 2 ? Dtype::kInt32 : Dtype::kBool;
    in.low = 0;
    in.high = i % 3 == 2 ? 7 : 1;
  }
  return out;
}

std::vector<Sample> arg_reduce_samples() {
  const auto sample = [](const Shape& shape, int64_t axis, Dtype index) {
    return sample_of({shape}, Params::make(ArgReduceParams{axis, index}));
  };
  return {sample({7}, 0, Dtype::kInt32), sample({2, 3}, 0, Dtype::kInt32),
          sample({2, 3}, 1, Dtype::kInt64), sample({2, 3, 4}, 1, Dtype::kInt32),
          sample({0, 3}, 1, Dtype::kInt32)};
}

std::vector<Sample> cumulative_samples() {
  const auto sample = [](const Shape& shape, int64_t axis, bool reverse) {
    return sample_of({shape}, Params::make(CumulativeParams{axis, reverse}));
  };
  return {sample({7}, 0, false),    sample({5}, 0, true),        sample({2, 3}, 0, false),
          sample({2, 4}, 1, true),  sample({2, 3, 2}, 1, false), sample({2, 3, 2}, 1, true),
          sample({0, 3}, 0, false), sample({3, 0}, 0, true),     sample({1}, 0, false)};
}

}  // namespace spruce::rules
