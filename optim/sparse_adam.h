// SPDX-License-Identifier: Apache-2.0
// Adam for tables of which a step uses a few rows, such as embeddings; as torch.optim.SparseAdam.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// Rows of an array f[rows, d...], as TensorFlow's IndexedSlices: the gradient of a table of which
/// a few rows were taken. A tree.
struct IndexedSlices {
  Array indices;  ///< i[n]: numbers of rows in any order; negative ones count from the end
  Array values;   ///< f[n, d...]: what belongs to each of them; what belongs to one row is added up
};

/// params, f[rows, d...], with the slices added to their rows; changed in place where it is moved
/// in and nothing else holds it. Throws ShapeError and DtypeError where the slices do not fit,
/// IndexError for numbers that are known to be no rows. Grad: of params, g; of values, g there.
Array apply_updates(Array params, const IndexedSlices& updates, Loc loc = Loc::current());

/// Options of sparse_adam.
struct SparseAdamOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;          ///< added to the root of the mean, whose bias is not corrected
};

/// Adam over the rows that have a gradient: the moments of the others stay as they are, and so do
/// they. The number of updates, by which biases are corrected, is one for all rows.
class SparseAdam {
 public:
  /// Throws ValueError unless 0 <= b1, b2 < 1 and the other numbers are finite and not negative.
  explicit SparseAdam(SparseAdamOptions options, Loc loc = Loc::current());

  /// Count 0 and moments of zeros for a table f[rows, d...].
  AdamState<Array> init(const Array& params) const {
    return {zero_count(), zeros_like(params), zeros_like(params)};
  }
  /// {updates, next state}. The updates have a row for each of the gradients, sorted; where several
  /// belong to one row of the table, the first has the update and the others 0. A state that is
  /// moved in is changed in place. Throws ShapeError unless the gradients are i[n] and f[n, d...],
  /// DtypeError unless they have the dtype of the table and integers, IndexError for numbers that
  /// are known to be no rows.
  std::pair<IndexedSlices, AdamState<Array>> update(const IndexedSlices& grads,
                                                    AdamState<Array> state, const Array& params,
                                                    Loc loc = Loc::current()) const;

 private:
  SparseAdamOptions o_;
};
/// Adam for one table, whose gradient is given for some rows: take the rows, differentiate the loss
/// by them, and pass {indices, gradients} to update(). A dense gradient has zeros elsewhere, and
/// adam would update those rows too. Throws as SparseAdam's constructor.
SparseAdam sparse_adam(SparseAdamOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
