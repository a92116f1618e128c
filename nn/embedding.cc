// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/embedding.h"

#include <utility>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/take.h"

namespace spruce::nn {
namespace {

// Negative numbers are a mistake here, as in PyTorch, while take() counts them from the end.
void check_rows(const Array& input, int64_t rows) {
  if (input.impl()->concrete() == nullptr || &input.device() != &cpu_device()) return;
  visit_dtype(input.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for (const T i : input.data<T>()) {
        if (std::cmp_greater_equal(i, 0) && std::cmp_less(i, rows)) continue;
        throw IndexError("embedding: the input holds " + std::to_string(i) + ", the table has " +
                         (rows > 0 ? "rows 0.." + std::to_string(rows - 1) : "no rows"));
      }
    }
  });
}

}  // namespace

Array embedding(const Array& input, const Array& weight, Loc loc) {
  const OpScope at("embedding", loc);
  if (!is_integer(input.dtype())) {
    throw DtypeError("embedding: the input must be integers, got " + to_string(input.aval()) +
                     "; the order is embedding(input, weight)");
  }
  if (weight.rank() != 2)
    throw ShapeError("embedding: weight must be f[n, d], got " + to_string(weight.aval()));
  check_rows(input, weight.shape()[0]);
  return take(weight, input, 0);
}

Embedding Embedding::init(const Key& key, int64_t n, int64_t d, const EmbeddingOptions& options,
                          Loc loc) {
  const OpScope at("Embedding::init", loc);
  return {random::normal(key, {n, d}, {.dtype = options.dtype})};
}

}  // namespace spruce::nn
