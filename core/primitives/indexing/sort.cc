// SPDX-License-Identifier: Apache-2.0
// Operands ordered together along an axis by the first num_keys of them (see SortParams).
#include "spruce/core/cpu/sort/sort.h"

#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"

namespace spruce {
namespace {

std::vector<Aval> sort_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<SortParams>();
  if (a.in.empty() || p.num_keys < 1 || p.num_keys > static_cast<int64_t>(a.in.size())) {
    throw ValueError(std::string(a.op) + ": num_keys is " + std::to_string(p.num_keys) + " for " +
                     std::to_string(a.in.size()) +
                     " operands; it must be between 1 and their number");
  }
  (void)rules::settled_axis(a.op, p.axis, a.in[0]->shape.rank());
  std::vector<Aval> out;
  for (const Aval* x : a.in) {
    if (!(x->shape == a.in[0]->shape)) {
      throw ShapeError(std::string(a.op) + ": the operands " + to_string(*a.in[0]) + " and " +
                       to_string(*x) +
                       " differ in shape; broadcast one to the other with broadcast_to");
    }
    out.push_back(*x);
  }
  return out;
}

// Sorts, with one more operand that says where each element came from.
std::vector<Array> sort_with_places(std::span<const Array> in, const SortParams& p) {
  const Shape& shape = in[0].shape();
  const int axis = static_cast<int>(p.axis);
  std::vector<Array> operands(in.begin(), in.end());
  operands.push_back(rules::iota(shape, rules::count_dtype(shape[axis]), axis));
  return bind_all(sort_p, operands, Params::make(p));
}

void sort_jvp(const JvpArgs& a) {
  const auto& p = a.params.get<SortParams>();
  const std::vector<Array> sorted = sort_with_places(a.in, p);
  for (size_t k = 0; k < a.in.size(); ++k) {
    a.out[k] = sorted[k];
    if (a.tangents[k].defined()) {
      a.out_tangents[k] = rules::take_along(a.tangents[k], sorted.back(), static_cast<int>(p.axis));
    }
  }
}

void sort_batch(const BatchArgs& a) {
  const auto& p = a.params.get<SortParams>();
  std::vector<Array> in(a.in.size());
  for (size_t k = 0; k < in.size(); ++k)
    in[k] = rules::materialize_batch(a.in[k], a.batched[k], a.size);
  const std::vector<Array> out =
      bind_all(a.p, in, Params::make(SortParams{p.axis + 1, p.num_keys}));
  for (size_t k = 0; k < out.size(); ++k) a.out[k] = out[k];
}

std::vector<Sample> sort_samples() {
  const auto sample = [](const Shape& shape, std::initializer_list<Dtype> dtypes, SortParams p) {
    Sample s;
    s.params = Params::make(p);
    for (const Dtype dtype : dtypes) {
      SampleInput in;
      in.aval = Aval{dtype, false, shape};
      in.distinct = is_floating(dtype);
      s.in.push_back(in);
    }
    return s;
  };
  const Dtype f = Dtype::kFloat32, i = Dtype::kInt32;
  return {sample({7}, {f}, {0, 1}),     sample({3, 4}, {f}, {0, 1}),
          sample({3, 4}, {f}, {1, 1}),  sample({2, 3, 2}, {f, f}, {1, 1}),
          sample({6}, {i, f}, {0, 2}),  sample({6}, {i, f}, {0, 1}),
          sample({0}, {f}, {0, 1}),     sample({0, 3}, {f}, {1, 1}),
          sample({1}, {f}, {0, 1}),     sample({5}, {i}, {0, 1}),
          sample({60}, {f, i}, {0, 1}), sample({4, 3}, {i, i, f}, {0, 2})};
}

}  // namespace

extern constinit const Primitive sort_p = {
    .name = "sort",
    .shapes = sort_shapes,
    .cpu = cpu::sort_kernel,
    .jvp = sort_jvp,
    .batch = sort_batch,
    .samples = sort_samples,
    .params = kParamsOf<SortParams>,
    .prepare = cpu::prepare_with_workspace<cpu::sort_kernel, cpu::sort_workspace>,
    .flops = rules::sort_flops,
};

namespace rules {

std::pair<Array, Array> sort_with_order(const Array& x) {
  const std::vector<Array> sorted = sort_with_places({&x, 1}, SortParams{});
  return {sorted[0], sorted[1]};
}

}  // namespace rules
}  // namespace spruce
