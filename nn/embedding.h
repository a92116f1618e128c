// SPDX-License-Identifier: Apache-2.0
// Embedding: rows of a table by number.
#pragma once

#include <optional>
#include <string_view>

#include "spruce/nn/factory.h"
#include "spruce/nn/initializer.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

/// Options of Embedding.
struct EmbeddingOptions {
  Dtype dtype = float32;                    ///< of the table
  Device* device = nullptr;                 ///< where they are made; null: the default device
  std::optional<int64_t> padding_idx = {};  ///< a row that begins with zeros and is not learned
  init::LayerInit init = {};                ///< how the table begins, if not as PyTorch's
};
/// Options of embedding.
struct EmbeddingLookupOptions {
  /// The gradient of this row is zero; a negative number counts from the end.
  std::optional<int64_t> padding_idx = {};
};

namespace internal {
/// The row of the table that padding_idx names. Throws IndexError naming `op` where there is none.
int64_t padding_row(const char* op, int64_t padding_idx, int64_t rows);

/// Numbers of rows, checked as embedding() does.
struct RowNumbers {
  Array index;   ///< the input; i32 or i64 where the values are not known
  Array factor;  ///< by number 1, or NaN outside of the table; undefined where none can be outside
};
/// Those of `input` in a floating table.
RowNumbers row_numbers(const Array& input, const Array& weight);
}  // namespace internal

/// weight[input]: i[...], f[n, d] -> f[..., d]. Grad: g added up in the rows. Throws DtypeError for
/// an input that is not integer, IndexError for a number outside of 0..n-1; under vmap and jit,
/// where numbers are not known, its row of the result is NaN, and so is the gradient. A table of
/// integers or bool gives the smallest number of a signed dtype there, the largest of an unsigned
/// one, or true. Throws IndexError for a padding_idx that is no row. PyTorch's max_norm is not
/// here: it changes the table when it is read; scale the rows when they are updated.
inline constexpr struct EmbeddingFunction {
  Array operator()(const Array& input, const Array& weight,
                   const EmbeddingLookupOptions& options = {}, Loc loc = Loc::current()) const;
} embedding{};

/// A table of n vectors of d numbers.
///
/// Parameters: weight f32[n, d].
struct Embedding {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = "num_embeddings=weight.0 embedding_dim=weight.1";

  Array weight;                             ///< one vector in each row
  std::optional<int64_t> padding_idx = {};  ///< as in EmbeddingOptions

  /// Standard normal, as PyTorch's default; zeros in row padding_idx. Throws IndexError where that
  /// is no row.
  static Embedding init(const Key& key, int64_t num_embeddings, int64_t embedding_dim,
                        const EmbeddingOptions& options = {}, Loc loc = Loc::current());

  /// i[...] -> f[..., d]. Throws as embedding().
  Array operator()(const Array& input, Loc loc = Loc::current()) const {
    return internal::observed(*this, "Embedding",
                              embedding(input, weight, {.padding_idx = padding_idx}, loc));
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
