// SPDX-License-Identifier: Apache-2.0
// Embedding: rows of a table by number.
#pragma once

#include "spruce/nn/factory.h"

namespace spruce::nn {

/// Options of Embedding.
struct EmbeddingOptions {
  Dtype dtype = float32;  ///< of the table
};

/// weight[input]: i[...], f[n, d] -> f[..., d]. Grad: g added up in the rows. Throws DtypeError for
/// an input that is not integer, IndexError for a known number outside of 0..n-1.
Array embedding(const Array& input, const Array& weight, Loc loc = Loc::current());

/// A table of n vectors of d numbers.
///
/// Parameters: weight f32[n, d].
struct Embedding {
  Array weight;  ///< one vector in each row

  /// Standard normal, as PyTorch's default.
  static Embedding init(const Key& key, int64_t num_embeddings, int64_t embedding_dim,
                        const EmbeddingOptions& options = {}, Loc loc = Loc::current());

  /// i[...] -> f[..., d]. Throws as embedding().
  Array operator()(const Array& input, Loc loc = Loc::current()) const {
    return embedding(input, weight, loc);
  }
};

/// A factory of Embedding layers; inputs are integers of any shape.
inline auto embedding_layer(int64_t num_embeddings, int64_t embedding_dim,
                            EmbeddingOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array&) {
    return Embedding::init(key, num_embeddings, embedding_dim, options);
  });
}

}  // namespace spruce::nn
