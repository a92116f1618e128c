// SPDX-License-Identifier: Apache-2.0
// What gather and the scatters share: how windows of an operand are addressed by index vectors,
// with the semantics of XLA's gather, and the rules that follow from it.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// Windows that are read, overwritten, added to, multiplied, and replaced by the smaller or larger
/// element; all with GatherParams.
extern const Primitive gather_p, scatter_p, scatter_add_p, scatter_mul_p, scatter_min_p,
    scatter_max_p;

/// gather(operand, indices) cuts windows out of `operand`; scatter(operand, indices, updates)
/// changes such windows by `updates`, which have the shape of the gather's result.
///
/// `indices` is i[positions..., k]: each vector along its last axis names where one window begins.
/// The result has one axis for each of the positions, in their order, and at `offset_dims` the axes
/// of the window.
struct GatherParams {
  Axes offset_dims;         ///< axes of the result that are window axes, ascending
  Axes collapsed_dims;      ///< operand axes with a window of size 1 that the result leaves out
  Axes start_index_map;     ///< the operand axis that entry k of an index vector addresses; axes
                            ///< not named begin at 0
  Axes operand_batch_dims;  ///< operand axes (window 1, left out) that advance together with ...
  Axes indices_batch_dims;  ///< ... these axes of `indices`
  Shape window;             ///< the window's size along each operand axis
  /// A window that would reach outside: moved to where it fits; else it reads as zeros and is not
  /// written.
  bool clip = true;
  /// A negative entry counts from the end of its axis, before `clip`.
  bool wraps = false;
};

namespace rules {

/// gather's type. Throws ShapeError or DtypeError for parameters that do not fit.
Aval gather_shape(const ShapeArgs& a);
/// The type of a scatter: that of the operand.
Aval scatter_shape(const ShapeArgs& a);

/// vmap of gather.
void batch_gather(const BatchArgs& a);
/// vmap of all scatters.
void batch_scatter(const BatchArgs& a);
/// Of scatter_min and scatter_max: what equals the result takes part in its tangent, in equal
/// shares.
void jvp_scatter_extremum(const JvpArgs& a);

/// True if the first axis of a gather's result, or of a scatter's updates, is that of the
/// positions.
bool positions_are_rows(const GatherParams& p, const Aval& indices, const Aval& windows);
/// Rules for Primitive::updates_in_blocks of scatters that set elements, and of those that add or
/// multiply: halves are rounded when all updates have been taken in.
bool sets_in_blocks(const RowArgs& a);
bool sums_in_blocks(const RowArgs& a);

/// True if no two windows can touch the same element: at most one position (for each batch entry).
bool one_window(const GatherParams& p, const Shape& indices);

/// Windows of `operand` at `indices`, addressed as in a scatter with these parameters.
Array gather_like(const Array& operand, const Array& indices, const Params& params);

/// For x[..., i, ...] with integers `i` of that rank at `axis`: their axes take the place of the
/// axis. The index vectors are `i` with an axis of size 1 behind.
GatherParams take_params(const Shape& x, int axis, int indices_rank);
/// For one element per index along `axis`; `x` and the indices agree in all other axes.
GatherParams along_params(const Shape& x, int axis);
/// `x` at the integers `i`, which are within its axis.
Array take_axis(const Array& x, const Array& i, int axis);
/// Element i of `x` along `axis` for each integer of `i`, which agrees with x in all other axes.
Array take_along(const Array& x, const Array& i, int axis);

/// gather's inputs: rows, single elements, whole windows, batched, clipped and dropped ones, none
/// at all.
std::vector<Sample> gather_samples();
/// The same with updates. No two values of operand and updates are equal.
std::vector<Sample> scatter_samples();

}  // namespace rules
}  // namespace spruce
