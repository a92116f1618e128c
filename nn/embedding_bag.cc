// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/embedding_bag.h"

#include <limits>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/known_indices.h"

namespace spruce::nn {
namespace {

constexpr double kLeast = -std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

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

// Rows f[..., d] of the table. By row: `counts` is false where it is padding, `factor` is NaN where
// there is none; either may be undefined.
struct Rows {
  Array values, counts, factor;
};
// The same of bags: the sum or the maximum of their rows f[n, d], how many count, the factor of
// all.
using Joined = Rows;

// Of rows f[n, m, d].
Joined joined(const Rows& r, BagMode mode) {
  const int64_t n = r.values.shape()[0], m = r.values.shape()[1], d = r.values.shape()[2];
  const auto counted = [&](double other) {
    return r.counts.defined() ? where(expand_dims(r.counts, -1), r.values, other) : r.values;
  };
  Joined out{Array(), r.counts.defined() ? sum(r.counts, 1) : full({n}, m, int32), Array()};
  if (r.factor.defined()) out.factor = prod(r.factor, 1);
  if (mode != BagMode::kMax)
    out.values = sum(counted(0), 1);
  else
    out.values = m == 0 ? zeros({n, d}, r.values.dtype()) : max(counted(kLeast), 1);
  return out;
}

// Of rows f[k, d] in bags that begin at `offsets`, rising.
Joined joined(const Rows& r, const Array& offsets, BagMode mode) {
  const int64_t rows = r.values.shape()[0];
  const Array starts = clip(widened(offsets, rows), 0, rows);
  const Array ends = concatenate({starts[slice(1, none)], full({1}, rows, starts.dtype())});
  // In how many rows of each bag `which` holds: by how much the running sum grows.
  const auto count = [&](const Array& which) {
    const Array running = cumsum(astype(which, int32));
    const auto until = [&](const Array& end) {
      return where(end == 0, 0, rules::take_axis(running, end - 1, 0));
    };
    return until(ends) - until(starts);
  };
  Joined out{Array(), r.counts.defined() ? count(r.counts) : ends - starts, Array()};
  if (r.factor.defined())
    out.factor = where(count(isnan(r.factor)) != 0, array(kNan, r.factor.dtype()), 1);
  // What stands in front of the first bag is of bag -1, which is none; so is padding.
  Array bags = cumsum(bincount(starts, rows)) - 1;
  if (r.counts.defined()) bags = where(r.counts, bags, -1);
  const Array none = full({offsets.size(), r.values.shape()[1]}, mode == BagMode::kMax ? kLeast : 0,
                          r.values.dtype());
  GatherParams p = rules::take_params(none.shape(), 0, 1);
  p.clip = false;
  out.values = bind1(mode == BagMode::kMax ? scatter_max_p : scatter_add_p,
                     {none, expand_dims(bags, -1), r.values}, Params::make(p));
  return out;
}

}  // namespace

Array EmbeddingBagFunction::operator()(const Array& input, const Array& weight,
                                       const Array& offsets, const Array& per_sample_weights,
                                       const EmbeddingBagOptions& o, Loc loc) const {
  const OpScope at("embedding_bag", loc);
  const spruce::internal::SameDevice here(weight);
  spruce::internal::require_defined("embedding_bag", "input", input, "weight", weight);
  check_shapes(input, offsets, per_sample_weights, o);
  if (!is_floating(weight.dtype())) {
    throw DtypeError("embedding_bag: weight must be floating, got " + to_string(weight.aval()));
  }
  const internal::RowNumbers numbers = internal::row_numbers(input, weight);
  Rows rows{rules::take_axis(weight, numbers.index, 0), Array(), numbers.factor};
  if (o.padding_idx.has_value())
    rows.counts =
        input != internal::padding_row("embedding_bag", *o.padding_idx, weight.shape()[0]);
  if (per_sample_weights.defined())
    rows.values = rows.values * expand_dims(astype(per_sample_weights, weight.dtype()), -1);
  Joined bags;
  if (input.rank() == 2) {
    bags = joined(rows, o.mode);
  } else {
    const int64_t count = input.size();
    check_offsets(offsets, count, o.include_last_offset);
    const int64_t n = offsets.size() - (o.include_last_offset ? 1 : 0);
    if (n == 0 || count == 0) return zeros({n, weight.shape()[1]}, weight.dtype());
    bags = joined(rows, o.include_last_offset ? offsets[slice(n)] : offsets, o.mode);
  }
  const Array counts = expand_dims(bags.counts, -1);
  Array y = bags.values;
  if (o.mode == BagMode::kMax) y = where(counts != 0, y, 0);
  if (o.mode == BagMode::kMean) y = y / astype(maximum(counts, 1), y.dtype());
  return bags.factor.defined() ? y * expand_dims(bags.factor, -1) : y;
}

EmbeddingBag EmbeddingBag::init(const Key& given, int64_t n, int64_t d,
                                const EmbeddingBagLayerOptions& o, Loc loc) {
  const OpScope at("EmbeddingBag::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  const Embedding table =
      Embedding::init(key, n, d, {.dtype = o.dtype, .padding_idx = o.padding_idx, .init = o.init});
  return {table.weight, o.mode, o.include_last_offset, o.padding_idx};
}

}  // namespace spruce::nn
