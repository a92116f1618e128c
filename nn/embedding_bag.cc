// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/embedding_bag.h"

#include <limits>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/nn/known_indices.h"

namespace spruce::nn {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void check_shapes(const Array& input, const Array& offsets, const Array& weights,
                  const EmbeddingBagOptions& o) {
  const bool flat = input.rank() == 1 && offsets.defined() && offsets.rank() == 1 &&
                    offsets.shape()[0] >= (o.include_last_offset ? 1 : 0);
  if (!flat && !(input.rank() == 2 && !offsets.defined())) {
    throw ShapeError("embedding_bag: the input is " + to_string(input.aval()) +
                     ", the offsets are " +
                     (offsets.defined() ? to_string(offsets.aval()) : "not given") +
                     "; they must be i[n, m] without offsets, or i[k] with i[n]");
  }
  if (flat && !is_integer(offsets.dtype())) {
    throw DtypeError("embedding_bag: offsets must be integers, got " + to_string(offsets.aval()));
  }
  if (!weights.defined()) return;
  if (o.mode != BagMode::kSum) {
    throw ValueError("embedding_bag: per_sample_weights need mode kSum");
  }
  if (!(weights.shape() == input.shape())) {
    throw ShapeError("embedding_bag: per_sample_weights is " + to_string(weights.aval()) +
                     ", it must have the shape of the input " + to_string(input.aval()));
  }
}

// Offsets rise from 0 to at most the number of indices; to just that where the last one ends.
void check_offsets(const Array& offsets, int64_t count, bool ends) {
  if (!has_known_values(offsets) || offsets.size() == 0) return;
  int64_t before = 0;
  bool first = true, rises = true;
  visit_dtype(offsets.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for (const T v : offsets.data<T>()) {
        const auto at = static_cast<int64_t>(v);
        rises = rises && (first ? at == 0 : at >= before) && at <= count;
        before = at;
        first = false;
      }
    }
  });
  rises = rises && (!ends || before == count);
  if (!rises) {
    throw ValueError("embedding_bag: the offsets " + to_string(offsets) + " must rise from 0 to " +
                     (ends ? "" : "at most ") + "the number of indices, " + std::to_string(count));
  }
}

// Rows f[..., d] that count, f[...] 1 or 0.
struct Rows {
  Array values, counts;
};

// Of f[n, m, d].
Array joined(const Rows& r, BagMode mode) {
  const Array counts = expand_dims(r.counts, -1);
  if (mode == BagMode::kMax) {
    if (r.values.shape()[1] == 0)
      return zeros({r.values.shape()[0], r.values.shape()[2]}, r.values.dtype());
    const Array largest = max(where(counts != 0, r.values, kMinusInfinity), 1);
    return where(any(counts != 0, 1), largest, 0);
  }
  const Array total = sum(where(counts != 0, r.values, 0), 1);
  return mode == BagMode::kSum ? total : total / maximum(sum(counts, 1), 1);
}

// Of f[k, d], where row i is of bag `bags`[i] of n.
Array scattered(const Rows& r, const Array& bags, int64_t n, BagMode mode) {
  const int64_t d = r.values.shape()[1];
  const Dtype dtype = r.values.dtype();
  const Array counts = expand_dims(r.counts, -1),
              members = expand_dims(zeros({n}, dtype).at(bags).add(r.counts), -1);
  if (mode == BagMode::kMax) {
    const Array largest = full({n, d}, kMinusInfinity, dtype)
                              .at(bags)
                              .max(where(counts != 0, r.values, kMinusInfinity));
    return where(members != 0, largest, 0);
  }
  const Array total = zeros({n, d}, dtype).at(bags).add(where(counts != 0, r.values, 0));
  return mode == BagMode::kSum ? total : total / maximum(members, 1);
}

}  // namespace

Array EmbeddingBagFunction::operator()(const Array& input, const Array& weight,
                                       const Array& offsets, const Array& per_sample_weights,
                                       const EmbeddingBagOptions& o, Loc loc) const {
  const OpScope at("embedding_bag", loc);
  const spruce::internal::SameDevice here(weight);
  spruce::internal::require_defined("embedding_bag", "input", input, "weight", weight);
  check_shapes(input, offsets, per_sample_weights, o);
  Rows rows{embedding(input, weight), Array()};
  if (!is_floating(weight.dtype())) {
    throw DtypeError("embedding_bag: weight must be floating, got " + to_string(weight.aval()));
  }
  rows.counts = ones(input.shape(), weight.dtype());
  if (o.padding_idx.has_value()) {
    const int64_t row = internal::padding_row("embedding_bag", *o.padding_idx, weight.shape()[0]);
    rows.counts = astype(input != row, weight.dtype());
  }
  if (per_sample_weights.defined())
    rows.values = rows.values * expand_dims(astype(per_sample_weights, weight.dtype()), -1);
  if (input.rank() == 2) return joined(rows, o.mode);
  const int64_t count = input.size();
  check_offsets(offsets, count, o.include_last_offset);
  const int64_t n = offsets.size() - (o.include_last_offset ? 1 : 0);
  const Array starts = o.include_last_offset ? offsets[slice(n)] : offsets;
  if (n == 0) return zeros({0, weight.shape()[1]}, weight.dtype());
  const Array rising = widened(starts, count + 1);
  const Array behind = searchsorted(rising, arange(count, rising.dtype()), {.right = true});
  // What stands in front of the first bag is of none; so it is where offsets are not known.
  return scattered(rows, where(behind == 0, n, behind - 1), n, o.mode);
}

EmbeddingBag EmbeddingBag::init(const Key& key, int64_t n, int64_t d,
                                const EmbeddingBagLayerOptions& o, Loc loc) {
  const OpScope at("EmbeddingBag::init", loc);
  const Embedding table =
      Embedding::init(key, n, d, {.dtype = o.dtype, .padding_idx = o.padding_idx, .init = o.init});
  return {table.weight, o.mode, o.include_last_offset, o.padding_idx};
}

}  // namespace spruce::nn
