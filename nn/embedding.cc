// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/embedding.h"

#include "spruce/core/ops/take.h"

namespace spruce::nn {

Array embedding(const Array& input, const Array& weight, Loc loc) {
  const LocScope at(loc);
  if (!is_integer(input.dtype())) {
    throw DtypeError("embedding: the input must be integers, got " + to_string(input.aval()) +
                     "; the order is embedding(input, weight)");
  }
  if (weight.rank() != 2)
    throw ShapeError("embedding: weight must be f[n, d], got " + to_string(weight.aval()));
  return take(weight, input, 0);
}

Embedding Embedding::init(const Key& key, int64_t n, int64_t d, const EmbeddingOptions& options) {
  return {random::normal(key, {n, d}, {.dtype = options.dtype})};
}

}  // namespace spruce::nn
