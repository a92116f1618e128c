// SPDX-License-Identifier: Apache-2.0
// Sums, means or maxima of rows of a table.
#pragma once

#include <string_view>

#include "spruce/core/op_scope.h"
#include "spruce/nn/embedding.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

/// What becomes of the rows of a bag.
enum class BagMode {
  kMean,  ///< their mean
  kSum,   ///< their sum
  kMax    ///< the largest element of each column
};

/// Options of embedding_bag.
struct EmbeddingBagOptions {
  BagMode mode = BagMode::kMean;            ///< see BagMode
  bool include_last_offset = false;         ///< whether the offsets end in the number of indices
  std::optional<int64_t> padding_idx = {};  ///< this row counts for nothing; negative: from the end
};
/// embedding(input, weight), and each bag of rows made one; zeros for an empty bag.
///
/// Shapes:  input i[n, m] holds n bags of m rows: weight f[rows, d] -> f[n, d]. Or input i[k] and
///          offsets i[n], where each bag begins, in rising order from 0. per_sample_weights has the
///          shape of the input.
/// Throws:  ShapeError, DtypeError, IndexError as embedding(); ValueError for offsets that are
/// known
///          not to rise from 0 and for per_sample_weights with another mode than kSum.
/// Grad:    of kMax, to the largest elements, in equal shares.
inline constexpr struct EmbeddingBagFunction {
  Array operator()(const Array& input, const Array& weight, const Array& offsets = {},
                   const Array& per_sample_weights = {}, const EmbeddingBagOptions& options = {},
                   Loc loc = Loc::current()) const;
} embedding_bag{};

/// Options of EmbeddingBag.
struct EmbeddingBagLayerOptions {
  BagMode mode = BagMode::kMean;            ///< see BagMode
  bool include_last_offset = false;         ///< as in EmbeddingBagOptions
  std::optional<int64_t> padding_idx = {};  ///< as in EmbeddingBagOptions
  Dtype dtype = float32;                    ///< of the table
  Device* device = nullptr;                 ///< where they are made; null: the default device
  init::LayerInit init = {};                ///< how the table begins, if not as PyTorch's
};

/// embedding_bag as a layer.
///
/// Parameters: weight f32[n, d].
struct EmbeddingBag {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "num_embeddings=weight.0 embedding_dim=weight.1 mode{mean,sum,max}";

  Array weight;                             ///< one vector in each row
  BagMode mode = BagMode::kMean;            ///< see BagMode
  bool include_last_offset = false;         ///< as in EmbeddingBagOptions
  std::optional<int64_t> padding_idx = {};  ///< as in EmbeddingBagOptions

  /// As Embedding::init.
  static EmbeddingBag init(const Key& key, int64_t num_embeddings, int64_t embedding_dim,
                           const EmbeddingBagLayerOptions& options = {}, Loc loc = Loc::current());
  /// As embedding_bag().
  Array operator()(const Array& input, const Array& offsets = {},
                   const Array& per_sample_weights = {}, Loc loc = Loc::current()) const {
    const OpScope at("EmbeddingBag", loc);
    return internal::observed(*this, "EmbeddingBag",
                              embedding_bag(input, weight, offsets, per_sample_weights,
                                            {mode, include_last_offset, padding_idx}));
  }
};

}  // namespace spruce::nn
