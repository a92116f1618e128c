// SPDX-License-Identifier: Apache-2.0
// What an index of NumPy's means for an array of a given shape, before any element is touched.
#pragma once

#include <span>
#include <vector>

#include "spruce/core/ops/index.h"
#include "spruce/core/rules/gather.h"

namespace spruce::internal {

/// What is taken of one axis: one point, points of an index array, or `size` entries from `start`
/// on.
struct AxisIndex {
  int64_t start = 0;
  int64_t size = 0;
  int64_t step = 1;    // negative: backwards
  bool point = false;  // an integer: the axis is gone from the result
  Array array = {};    // where defined: not negative, and within the axis if its values are known
};

struct IndexPlan {
  Shape base;                   // the array's shape with the axes under each mask merged into one
  std::vector<AxisIndex> axes;  // one for each axis of `base`
  std::vector<int>
      kept;             // the result's axes besides those of index arrays: axes of `base`, or kNew
  bool arrays = false;  // some axis has an index array
  Shape group;          // the common shape of the index arrays
  size_t group_at = 0;  // how many of `kept` stand before its axes in the result

  static constexpr int kNew = -1;

  /// The shape of the result; new axes left out where `with_new` is false.
  Shape result(bool with_new = true) const;
};

/// Throws IndexError, ShapeError, DtypeError, ValueError or TracerError, naming `op`.
IndexPlan plan_index(const char* op, const Aval& x, std::span<const Index> indices);

/// x[indices].
Array read(const Array& x, const IndexPlan& plan);

/// The parameters and index vectors with which a scatter into an array of the shape `base` (the
/// same elements in the same order) updates what the plan says; the updates have the shape
/// plan.result(false).
struct ScatterPlan {
  Shape base;
  GatherParams params;
  Array indices;
};
ScatterPlan plan_scatter(const IndexPlan& plan);

/// The concrete array behind `a` if its values are known here on the CPU, else an undefined one.
Array known(const Array& a);
/// The elements of a known integer or bool array.
std::vector<int64_t> known_integers(const Array& a);
/// Integer indices into an axis of that size with negative ones counted from its end. Throws
/// IndexError where a known one is outside, DtypeError for other dtypes.
Array wrapped(const char* op, const Array& indices, int axis, const Aval& x);
/// Where a known mask is true, as places in its row-major order.
Array true_places(const Array& mask);

}  // namespace spruce::internal
