// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention_strided.h"

#include "spruce/core/rules/shape.h"

namespace spruce::rules {
namespace {

[[noreturn]] void fail(const char* op, const std::string& what) {
  throw ShapeError(std::string(op) + ": " + what);
}

void check_reach(const char* op, const StridedView& v, int64_t numel) {
  int64_t last = v.offset;
  bool fits = v.offset >= 0;
  for (int i = 0; fits && i < v.shape.rank(); ++i) {
    int64_t reach = 0;
    fits = v.steps[i] >= 0 && !__builtin_mul_overflow(v.shape[i] - 1, v.steps[i], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!fits || last >= numel) fail(op, "an operand reaches beyond its input");
}

}  // namespace

std::vector<StridedView> strided_operands(const char* op, Avals in, const Params& params,
                                          size_t count) {
  const auto& p = params.get<AttentionStridedParams>();
  const int rank = p.query.rank();
  Shape key = p.query, value = p.query, result = p.query;
  if (rank < 2 || p.views.size() != count * static_cast<size_t>(rank + 1))
    fail(op, "the views are not those of " + std::to_string(count) + " operands");
  key[rank - 2] = value[rank - 2] = p.keys;
  value[rank - 1] = result[rank - 1] = p.values;
  const Shape shapes[] = {p.query, key, value, result, result};
  std::vector<StridedView> out;
  for (size_t i = 0; i < count; ++i) {
    check_shape(op, shapes[i]);
    if (shapes[i].numel() == 0) fail(op, "an operand has no elements");
    const int64_t* at = p.views.data() + i * static_cast<size_t>(rank + 1);
    if (at[0] < 0 || static_cast<size_t>(at[0]) >= in.size())
      fail(op, "there is no input " + std::to_string(at[0]));
    StridedView v{shapes[i], static_cast<size_t>(at[0]), at[1], Shape::filled(rank, 1)};
    for (int k = 0; k + 1 < rank; ++k) v.steps[k] = at[k + 2];
    const Aval& from = *in[v.input];
    if (from.dtype != in[0]->dtype || size_of(from.dtype) < 4 || !is_floating(from.dtype)) {
      throw DtypeError(std::string(op) + ": the inputs must be all f32 or all f64, got " +
                       to_string(from));
    }
    check_reach(op, v, from.shape.numel());
    out.push_back(v);
  }
  return out;
}

std::vector<StridedView> strided_operands_of(std::span<const Array> in, const Params& params,
                                             size_t count) {
  std::vector<const Aval*> types;
  for (const Array& a : in) types.push_back(&a.aval());
  return strided_operands("attention", types, params, count);
}

Shape strided_shape(const char* op, const Shape& dense, const Axes& perm, int64_t joined,
                    int64_t parts) {
  const int rank = dense.rank();
  Shape out;
  Shape seen = Shape::filled(rank, 0);
  bool fits = perm.rank() == rank && perm.back() == rank - 1 && joined >= -1 && joined < rank;
  for (int i = 0; fits && i < rank; ++i) {
    fits = perm[i] >= 0 && perm[i] < rank && seen[static_cast<int>(perm[i])]++ == 0;
    if (fits) out.push_back(dense[static_cast<int>(perm[i])]);
  }
  if (!fits) fail(op, "the order of the result's axes does not fit");
  if (joined >= 0) out.insert(static_cast<int>(joined), parts);
  check_shape(op, out);
  return out;
}

StridedView strided_result(const Shape& dense, const Axes& perm, const Shape& out, int64_t joined,
                           int64_t part) {
  Shape steps = row_major_strides(out);
  StridedView v{dense, 0, 0, dense};
  if (joined >= 0) {
    v.offset = part * steps[static_cast<int>(joined)];
    steps.erase(static_cast<int>(joined));
  }
  for (int i = 0; i < perm.rank(); ++i) v.steps[static_cast<int>(perm[i])] = steps[i];
  return v;
}

std::vector<Sample> strided_samples(const std::vector<std::vector<Shape>>& inputs,
                                    const std::vector<AttentionStridedParams>& params) {
  std::vector<Sample> out;
  for (const Dtype dtype : {Dtype::kFloat64, Dtype::kFloat32}) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      out.push_back(sample_of(inputs[i], dtype, Params::make(params[i])));
      out.back().fixed_dtypes = true;
    }
  }
  return out;
}

}  // namespace spruce::rules
