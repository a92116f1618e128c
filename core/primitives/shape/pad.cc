// SPDX-License-Identifier: Apache-2.0
// Elements put (or, where negative, taken away) before and after each axis, and between any two
// elements of it.
#include <algorithm>

#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/cpu/index/move.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

// Of a padding: sums of a few cannot overflow.
constexpr int64_t kMost = int64_t{1} << 60;

[[noreturn]] void throw_pad(const ShapeArgs& a, const std::string& next) {
  const auto& p = a.params.get<PadParams>();
  throw ShapeError(std::string(a.op) + ": low " + to_string(p.low) + ", high " + to_string(p.high) +
                   ", interior " + to_string(p.interior) + " do not fit " + to_string(*a.in[0]) +
                   "; " + next);
}

Aval pad_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<PadParams>();
  const Aval &x = *a.in[0], &value = *a.in[1];
  if (value.dtype != x.dtype) {
    throw DtypeError(std::string(a.op) + ": the dtypes of " + to_string(x) +
                     " and of the padding " + to_string(value) +
                     " differ; convert one with astype");
  }
  if (!value.shape.empty()) throw_pad(a, "the padding must be one number, not " + to_string(value));
  const int rank = x.shape.rank();
  if (p.low.rank() != rank || p.high.rank() != rank || p.interior.rank() != rank)
    throw_pad(a, "each axis needs one of each");
  Aval out{x.dtype, x.weak && value.weak, x.shape};
  for (int i = 0; i < rank; ++i) {
    const int64_t gaps = std::max<int64_t>(0, x.shape[i] - 1);
    int64_t n = 0, inside = 0;
    if (p.interior[i] < 0) throw_pad(a, "interior padding cannot be negative");
    const auto [least, most] = std::minmax({p.low[i], p.high[i], p.interior[i]});
    if (least < -kMost || most > kMost) throw_pad(a, "none of them can be beyond 2^60");
    const bool overflow = __builtin_mul_overflow(gaps, p.interior[i], &inside) ||
                          __builtin_add_overflow(inside, x.shape[i], &inside) ||
                          __builtin_add_overflow(p.low[i] + p.high[i], inside, &n);
    if (overflow || n < 0 || n > 4 * kMost)
      throw_pad(a, "no axis can lose more than it has or grow beyond 2^62");
    out.shape[i] = n;
  }
  check_shape(a.op, out.shape, size_of(x.dtype));
  return out;
}

// The elements of the operand that are kept.
IndexMap inside_map(const Params& params, const Shape& in, const Shape& out) {
  const auto& p = params.get<PadParams>();
  IndexMap m = rules::identity_map(in);
  for (int i = 0; i < in.rank(); ++i) {
    // Element k stands at low + k * step; those within the output are first .. first + count - 1.
    const int64_t step = p.interior[i] + 1, space = out[i] - p.low[i],
                  first = p.low[i] >= 0 ? 0 : (-p.low[i] + step - 1) / step,
                  end = std::min(in[i], space <= 0 ? 0 : (space - 1) / step + 1);
    m.count[i] = std::max<int64_t>(0, end - first);
    m.begin[i] = p.low[i] + first * step;
    m.from[i] = first;
    if (m.count[i] > 1) m.step[i] = step;
  }
  return m;
}

std::vector<IndexMap> pad_maps(const PrepareArgs& a) {
  const Shape& out = a.out[0]->shape;
  IndexMap inside = inside_map(a.params, a.in[0]->shape, out);
  if (inside.count == out) return {inside};
  IndexMap around = rules::identity_map(out);
  around.input = 1;
  around.from = {};
  std::fill(around.axis.begin(), around.axis.end(), -1);
  return {around, inside};
}

void pad_kernel(const KernelArgs& a) {
  const View &x = a.in[0], &y = a.out[0];
  const IndexMap inside = inside_map(a.params, x.shape(), y.shape());
  if (!(inside.count == y.shape())) cpu::fill(y.data, a.in[1].data, y.numel(), size_of(x.dtype()));
  cpu::move_elements(inside, x, y);
}

// Where the output holds elements of the operand, as ones.
Array occupied(const Shape& operand, Dtype dtype, const PadParams& p) {
  return rules::pad_all(ones(operand, dtype), rules::scalar_of(dtype, 0), p.low, p.high,
                        p.interior);
}

void pad_transpose_rule(const TransposeArgs& a) {
  const auto& p = a.params.get<PadParams>();
  const Array& ct = a.cts[0];
  const Shape& x = a.avals[0].shape;
  if (a.linear(0)) {
    PadParams back = p;
    Shape stride = p.interior;
    for (int i = 0; i < x.rank(); ++i) {
      back.low[i] = -p.low[i];
      back.high[i] = -p.high[i];
      back.interior[i] = 0;
      ++stride[i];
    }
    const Array whole = x.numel() == 0 ? zeros(x, ct.dtype())
                                       : rules::pad_all(ct, rules::scalar_of(ct.dtype(), 0),
                                                        back.low, back.high, back.interior);
    a.out[0] = whole.shape() == x
                   ? whole
                   : rules::slice_all(whole, Shape::filled(x.rank(), 0), whole.shape(), stride);
  }
  if (a.linear(1)) {
    const Array padding = rules::scalar_of(ct.dtype(), 1) - occupied(x, ct.dtype(), p);
    a.out[1] = sum(ct * padding);
  }
}

void pad_batch(const BatchArgs& a) {
  const auto& p = a.params.get<PadParams>();
  const PadParams q{rules::with_front(p.low, 0), rules::with_front(p.high, 0),
                    rules::with_front(p.interior, 0)};
  const Array x = rules::materialize_batch(a.in[0], a.batched[0], a.size);
  if (!a.batched[1]) {
    a.out[0] = bind1(a.p, {x, a.in[1]}, Params::make(q));
    return;
  }
  const Dtype dtype = x.dtype();
  Shape operand = x.shape();
  operand.erase(0);
  const Array kept = occupied(operand, Dtype::kInt32, p);
  Shape value = Shape::filled(x.rank(), 1);
  value[0] = a.size;
  const Array padded = rules::pad_all(x, rules::scalar_of(dtype, 0), q.low, q.high, q.interior);
  a.out[0] = where(rules::convert(kept, Dtype::kBool), padded, reshape(a.in[1], value));
}

std::vector<Sample> pad_samples() {
  const auto sample = [](const Shape& x, const Shape& low, const Shape& high,
                         const Shape& interior) {
    return rules::sample_of({x, {}}, Params::make(PadParams{low, high, interior}));
  };
  return {sample({}, {}, {}, {}),
          sample({4}, {1}, {2}, {0}),
          sample({4}, {0}, {0}, {2}),
          sample({5}, {-1}, {-2}, {0}),
          sample({4}, {-1}, {1}, {1}),
          sample({4}, {-2}, {-1}, {2}),
          sample({2, 3}, {1, 0}, {0, 2}, {0, 1}),
          sample({2, 3}, {1, -1}, {-1, 1}, {1, 0}),
          sample({0, 2}, {1, 1}, {1, 0}, {3, 0}),
          sample({3}, {-3}, {0}, {0}),
          sample({2}, {-5}, {6}, {0})};
}

}  // namespace

extern constinit const Primitive pad_p = {
    .name = "pad",
    .shape = pad_shape,
    .cpu = pad_kernel,
    .jvp = rules::jvp_linear,
    .transpose = pad_transpose_rule,
    .batch = pad_batch,
    .samples = pad_samples,
    .params = kParamsOf<PadParams>,
    .kind = PrimitiveKind::kMove,
    .takes_strides = rules::reads_strides,
    .index_maps = pad_maps,
    .flops = rules::no_flops,
};

}  // namespace spruce
