// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/embedding.h"

#include <limits>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/known_indices.h"
#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce::nn {
namespace {

NanOutsideParams row_range(const Array& weight) {
  const int64_t rows = weight.shape()[0];
  return {"embedding", "the input holds",
          "the table has " + (rows > 0 ? "rows 0.." + std::to_string(rows - 1) : "no rows"), rows,
          weight.dtype()};
}

// Checks what embedding() is given. True if the numbers are known, and within the table.
bool check(const Array& input, const Array& weight) {
  spruce::internal::require_defined("embedding", "input", input, "weight", weight);
  if (!is_integer(input.dtype())) {
    throw DtypeError("embedding: the input must be integers, got " + to_string(input.aval()) +
                     "; the order is embedding(input, weight)");
  }
  if (weight.rank() != 2)
    throw ShapeError("embedding: weight must be f[n, d], got " + to_string(weight.aval()) +
                     internal::init_hint(weight, "Embedding"));
  const bool known = has_known_values(input);
  if (known) check_known(input, row_range(weight));
  if (!known && weight.shape()[0] == 0 && input.size() > 0)
    throw IndexError("embedding: the table has no rows for the input " + to_string(input.aval()));
  return known;
}

// What integers hold for a row that is not there: the smallest number of a signed dtype, the
// largest of an unsigned one, true.
Array missing_row(Dtype dtype) {
  return visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      return array(std::is_signed_v<T> ? Limits::min() : Limits::max(), dtype);
    } else {
      return Array();
    }
  });
}

}  // namespace

namespace internal {

int64_t padding_row(const char* op, int64_t padding_idx, int64_t rows) {
  if (padding_idx < -rows || padding_idx >= rows) {
    throw IndexError(std::string(op) + ": padding_idx is " + std::to_string(padding_idx) +
                     ", the table has " + std::to_string(rows) + " rows");
  }
  return padding_idx < 0 ? padding_idx + rows : padding_idx;
}

RowNumbers row_numbers(const Array& input, const Array& weight) {
  if (check(input, weight)) return {input, Array()};
  const Array index = widened(input, weight.shape()[0]);
  return {index, nan_outside(index, row_range(weight))};
}

}  // namespace internal

Array EmbeddingFunction::operator()(const Array& input, const Array& weight,
                                    const EmbeddingLookupOptions& o, Loc loc) const {
  const OpScope at("embedding", loc);
  const bool known = check(input, weight);
  const int64_t rows = weight.shape()[0];
  if (o.padding_idx.has_value()) {
    const int64_t row = internal::padding_row("embedding", *o.padding_idx, rows);
    const Array taken = (*this)(input, weight, {}, loc);
    return where(expand_dims(input == row, -1), stop_gradient(taken), taken);
  }
  if (known) return rules::take_axis(weight, input, 0);
  const Array index = widened(input, rows), taken = rules::take_axis(weight, index, 0);
  if (is_floating(weight.dtype()))
    return taken * expand_dims(nan_outside(index, row_range(weight)), -1);
  return where(expand_dims(rules::is_within(index, rows), -1), taken, missing_row(weight.dtype()));
}

Embedding Embedding::init(const Key& given, int64_t n, int64_t d, const EmbeddingOptions& options,
                          Loc loc) {
  const OpScope at("Embedding::init", loc);
  const internal::InitPlace place(options.device, given);
  const Key& key = place.key();
  const auto normal = [&] { return random::normal(key, {n, d}, {.dtype = options.dtype}); };
  Embedding layer{
      init::internal::first_value(options.init.weight, key, {n, d}, options.dtype, normal),
      options.padding_idx};
  if (options.padding_idx.has_value()) {
    const int64_t row = internal::padding_row("Embedding::init", *options.padding_idx, n);
    layer.weight = std::move(layer.weight).at(row).set(0);
  }
  return layer;
}

}  // namespace spruce::nn
