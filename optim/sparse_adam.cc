// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/sparse_adam.h"

#include "spruce/core/default_device.h"
#include "spruce/core/ops/ops.h"

namespace spruce::optim {
namespace {

// Throws unless the slices are rows of the table.
void check_slices(const char* op, const IndexedSlices& slices, const Array& table) {
  spruce::internal::require_defined(op, "the table", table, "indices", slices.indices);
  spruce::internal::require_defined(op, "values", slices.values);
  const std::string given = std::string(op) + ": the table is " + to_string(table.aval()) +
                            ", indices " + to_string(slices.indices.aval()) + " and values " +
                            to_string(slices.values.aval());
  if (!is_integer(slices.indices.dtype()) || slices.values.dtype() != table.dtype() ||
      !is_floating(table.dtype())) {
    throw DtypeError(given + "; indices must be integers, and values floating as the table is");
  }
  Shape wanted = table.shape();
  const bool fits = table.rank() > 0 && slices.indices.rank() == 1;
  if (fits) wanted[0] = slices.indices.shape(0);
  if (!fits || !(slices.values.shape() == wanted))
    throw ShapeError(given + "; they must be f[rows, d...], i[n] and f[n, d...]");
}

// Slices of which one has the sum for its row, and where these are: bool[n, 1...].
struct Merged {
  Array indices, values, first;
};

// Sorts the slices; of several for one row the first gets the sum.
Merged merged(const IndexedSlices& slices, int64_t rows) {
  const int64_t n = slices.indices.shape(0);
  const Array given = astype(slices.indices, int64);
  const Array from_end = (given < 0) & (given >= -rows);
  const Array counted = where(from_end, given + rows, given);
  const Array order = argsort(counted), indices = take(counted, order, 0);
  const Array values = take(slices.values, order, 0);
  const Array place = arange(n), before = take(indices, maximum(place - 1, 0), 0);
  const Array first = (place == 0) | (indices != before);
  const Array group = cumsum(astype(first, int32), 0) - 1;
  const Array sums = zeros_like(values).at(group).add(values);
  Shape column = Shape::filled(values.rank(), 1);
  column[0] = n;
  return {indices, take(sums, group, 0), reshape(first, column)};
}

}  // namespace

Array apply_updates(Array params, const IndexedSlices& updates, Loc loc) {
  const OpScope at("apply_updates", loc);
  check_slices("apply_updates", updates, params);
  return std::move(params).at(updates.indices).add(updates.values);
}

SparseAdam::SparseAdam(SparseAdamOptions options, Loc loc) : o_(std::move(options)) {
  const OpScope at("sparse_adam", loc);
  o_.learning_rate.check("sparse_adam");
  internal::check_moments("sparse_adam", o_.b1, o_.b2, o_.eps, 0);
}

std::pair<IndexedSlices, AdamState<Array>> SparseAdam::update(const IndexedSlices& grads,
                                                              AdamState<Array> state,
                                                              const Array& params, Loc loc) const {
  const OpScope at("sparse_adam", loc);
  const spruce::internal::SameDevice here(params);
  check_count("sparse_adam", state.count);
  check_slices("sparse_adam", grads, params);
  for (const Array& moment : {state.mu, state.nu})
    internal::check_shape("sparse_adam", "moments", params, moment, params.shape());
  const Array count = next_count(state.count);
  const Merged rows = merged(grads, params.shape(0));
  const auto first = [&](const Array& x) { return where(rows.first, x, 0); };
  const Array mu = take(state.mu, rows.indices, 0), nu = take(state.nu, rows.indices, 0);
  const Array new_mu = running_mean(rows.values, mu, o_.b1),
              new_nu = running_mean(square(rows.values), nu, o_.b2);
  const Dtype dtype = params.dtype();
  const Hyperparam rate = o_.learning_rate.rate("sparse_adam", state.count);
  const Array size =
      rate * (sqrt(bias_correction(o_.b2, count, dtype)) / bias_correction(o_.b1, count, dtype));
  const Array updates = -(size * new_mu / (sqrt(new_nu) + o_.eps));
  state.count = count;
  state.mu = std::move(state.mu).at(rows.indices).add(first(new_mu - mu));
  state.nu = std::move(state.nu).at(rows.indices).add(first(new_nu - nu));
  return {{rows.indices, first(updates)}, std::move(state)};
}

SparseAdam sparse_adam(SparseAdamOptions options, Loc loc) {
  return SparseAdam(std::move(options), loc);
}

}  // namespace spruce::optim
