// SPDX-License-Identifier: Apache-2.0
// Pruning: masks of the elements of a weight that stay. What torch.nn.utils.prune registers on a
// module is here a function of the weight; the model holds the mask as a Buffer, and the weight is
// read through it:
//
//   struct Layer {
//     Array weight, bias;
//     Buffer mask;
//     Array operator()(const Array& x) const {
//       return nn::linear(x, nn::prune::apply_mask(weight, mask), bias);
//     }
//   };
//   layer.mask.value = nn::prune::l1_unstructured(layer.weight, 0.3);
#pragma once

#include <concepts>
#include <vector>

#include "spruce/core/random/random.h"

namespace spruce::nn::prune {

/// How many elements or channels go: a share as a floating number, 0.3, or how many, 3.
class Amount {
 public:
  /// A share, from 0 to 1. What it is of the number of elements is rounded, a half to even.
  template <std::floating_point T>
  constexpr Amount(T share) : value_(static_cast<double>(share)), is_share_(true) {}
  /// That many.
  template <std::integral T>
  constexpr Amount(T count) : value_(static_cast<double>(count)), is_share_(false) {}

  /// The number, as it was given.
  double value() const { return value_; }
  /// Whether it is a share.
  bool is_share() const { return is_share_; }

 private:
  double value_;
  bool is_share_;
};

/// Options of all masks.
struct PruneOptions {
  Array mask =
      {};  ///< bool, of the weight's shape: what has gone already; the amount is of the rest
  Array importance_scores = {};  ///< f, of the weight's shape: looked at in place of the weight
};

/// bool of the weight's shape, false for the elements of smallest magnitude (Han et al. 2015). Of
/// equal ones the first go. Throws ShapeError where mask or scores do not fit, DtypeError for a
/// mask that is not bool, ValueError for a share outside of 0..1 and for more elements than there
/// are.
Array l1_unstructured(const Array& weight, Amount amount, const PruneOptions& options = {},
                      Loc loc = Loc::current());
/// The same for elements that are drawn.
Array random_unstructured(const Key& key, const Array& weight, Amount amount,
                          const PruneOptions& options = {}, Loc loc = Loc::current());
/// The same for whole channels along the axis `dim`: those whose norm of the order n is smallest.
/// Throws ValueError also unless n is positive, ShapeError for a weight of rank below 2 and a dim
/// that is not there.
Array ln_structured(const Array& weight, Amount amount, double n, int dim,
                    const PruneOptions& options = {}, Loc loc = Loc::current());
/// The same for channels that are drawn.
Array random_structured(const Key& key, const Array& weight, Amount amount, int dim,
                        const PruneOptions& options = {}, Loc loc = Loc::current());
/// A mask of each weight: false for the elements of smallest magnitude among all of them. Throws
/// ValueError without weights, and as l1_unstructured.
std::vector<Array> global_unstructured(const std::vector<Array>& weights, Amount amount,
                                       Loc loc = Loc::current());

/// The weight where the mask is true, else zero. Grad: g where the mask is true.
Array apply_mask(const Array& weight, const Array& mask, Loc loc = Loc::current());

}  // namespace spruce::nn::prune
