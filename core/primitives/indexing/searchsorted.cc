// SPDX-License-Identifier: Apache-2.0
// Where queries belong in a sorted row (see SearchSortedParams): before all elements that are not
// smaller, or behind all that are not larger.
#include "spruce/core/cpu/sort/sort.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/sort.h"

namespace spruce {
namespace {

Aval searchsorted_shape(const ShapeArgs& a) {
  const Aval &sorted = *a.in[0], &queries = *a.in[1];
  if (sorted.dtype != queries.dtype) {
    throw DtypeError(std::string(a.op) + ": " + to_string(sorted) + " and the queries " +
                     to_string(queries) + " differ in dtype; convert one with astype");
  }
  bool fits = sorted.shape.rank() >= 1 && queries.shape.rank() >= sorted.shape.rank() - 1;
  for (int i = 0; fits && i + 1 < sorted.shape.rank(); ++i)
    fits = sorted.shape[i] == queries.shape[i];
  if (!fits) {
    throw ShapeError(std::string(a.op) +
                     ": takes a sorted [batch..., n] and queries [batch..., ...], got " +
                     to_string(sorted) + " and " + to_string(queries));
  }
  return {rules::count_dtype(sorted.shape.back()), false, queries.shape};
}

void searchsorted_batch(const BatchArgs& a) {
  const bool shared_row = !a.batched[0] && a.in[0].rank() == 1;
  const Array sorted =
      shared_row ? a.in[0] : rules::materialize_batch(a.in[0], a.batched[0], a.size);
  const Array queries =
      shared_row ? a.in[1] : rules::materialize_batch(a.in[1], a.batched[1], a.size);
  a.out[0] = bind1(a.p, {sorted, queries}, a.params);
}

std::vector<Sample> searchsorted_samples() {
  const auto sample = [](const Shape& sorted, std::vector<double> values, const Shape& queries,
                         bool right) {
    Sample s;
    s.in.resize(2);
    s.in[0].aval = Aval{Dtype::kFloat32, false, sorted};
    s.in[0].values = std::move(values);
    s.in[1].aval = Aval{Dtype::kFloat32, false, queries};
    s.in[1].distinct = true;
    s.params = Params::make(SearchSortedParams{right});
    return s;
  };
  return {sample({5}, {-1.5, -0.25, -0.25, 0.5, 1.5}, {6}, false),
          sample({5}, {-1.5, -0.25, -0.25, 0.5, 1.5}, {2, 3}, true),
          sample({2, 3}, {-1.5, 0, 1.5, -1, -1, 1}, {2, 4}, false),
          sample({1}, {0.125}, {}, true),
          sample({0}, {}, {3}, false),
          sample({3}, {-1, 0, 1}, {0}, false)};
}

}  // namespace

extern constinit const Primitive searchsorted_p = {
    .name = "searchsorted",
    .shape = searchsorted_shape,
    .cpu = cpu::searchsorted_kernel,
    .jvp = rules::jvp_zero,
    .batch = searchsorted_batch,
    .samples = searchsorted_samples,
    .params = kParamsOf<SearchSortedParams>,
    .prepare = cpu::prepare_with_workspace<cpu::searchsorted_kernel, cpu::searchsorted_workspace>,
};

}  // namespace spruce
