// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/gather.h"

#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace rules {
namespace {

std::string describe(const ShapeArgs& a) {
  std::string s = std::string(a.op) + "(";
  for (size_t i = 0; i < a.in.size(); ++i) s += (i > 0 ? ", " : "") + to_string(*a.in[i]);
  return s + ")";
}

[[noreturn]] void fail(const ShapeArgs& a, const std::string& what) {
  throw ShapeError(describe(a) + ": " + what + "; parameters: " + a.params.text());
}

void check_axes(const ShapeArgs& a, const char* name, const Axes& axes, int rank) {
  for (int i = 0; i < axes.rank(); ++i) {
    bool repeated = false;
    for (int j = 0; j < i; ++j) repeated = repeated || axes[j] == axes[i];
    if (axes[i] < 0 || axes[i] >= rank || repeated) {
      fail(a, std::string(name) + " must be distinct axes below " + std::to_string(rank));
    }
  }
}

// The number of index vectors.
int64_t positions(const Shape& indices) {
  int64_t n = 1;
  for (int i = 0; i + 1 < indices.rank(); ++i) n *= indices[i];
  return n;
}

void check(const ShapeArgs& a, const GatherParams& p) {
  const Shape &operand = a.in[0]->shape, &indices = a.in[1]->shape;
  if (!is_integer(a.in[1]->dtype)) {
    throw DtypeError(describe(a) + ": the indices must be integers; convert them with astype");
  }
  if (indices.rank() == 0) fail(a, "the indices need a last axis that holds the index vectors");
  check_axes(a, "collapsed_dims", p.collapsed_dims, operand.rank());
  check_axes(a, "start_index_map", p.start_index_map, operand.rank());
  check_axes(a, "operand_batch_dims", p.operand_batch_dims, operand.rank());
  check_axes(a, "indices_batch_dims", p.indices_batch_dims, indices.rank() - 1);
  if (indices.back() != p.start_index_map.rank()) {
    fail(a, "the last axis of the indices must have one entry for each axis in start_index_map");
  }
  if (p.window.rank() != operand.rank())
    fail(a, "window needs a size for each axis of the operand");
  if (p.operand_batch_dims.rank() != p.indices_batch_dims.rank())
    fail(a, "the lists of batch axes differ in length");
  const int window_rank = operand.rank() - p.collapsed_dims.rank() - p.operand_batch_dims.rank();
  if (p.offset_dims.rank() != window_rank)
    fail(a, "offset_dims must name one axis for each window axis that is kept");
  check_axes(a, "offset_dims", p.offset_dims, indices.rank() - 1 + window_rank);
  for (int i = 1; i < p.offset_dims.rank(); ++i) {
    if (p.offset_dims[i] < p.offset_dims[i - 1]) fail(a, "offset_dims must ascend");
  }
  for (int i = 0; i < p.operand_batch_dims.rank(); ++i) {
    const int64_t axis = p.operand_batch_dims[i];
    if (p.collapsed_dims.contains(axis) || p.start_index_map.contains(axis)) {
      fail(a, "an axis in operand_batch_dims can be neither collapsed nor indexed");
    }
    if (operand[static_cast<int>(axis)] != indices[static_cast<int>(p.indices_batch_dims[i])]) {
      fail(a, "the sizes of the batch axes differ");
    }
  }
  const bool any = positions(indices) > 0;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    const bool batch = p.operand_batch_dims.contains(axis);
    if ((batch || p.collapsed_dims.contains(axis)) && p.window[axis] != 1)
      fail(a, "an axis that is left out has window 1");
    if (p.window[axis] < 0) fail(a, "window sizes cannot be negative");
    // With indices that name its axis, such a window is one that is left out.
    const bool left_out = !p.clip && p.start_index_map.contains(axis);
    if (p.window[axis] > operand[axis] && !batch && any && !left_out)
      fail(a, "the window is larger than the operand");
  }
}

Shape result_shape(const GatherParams& p, const Shape& operand, const Shape& indices) {
  Shape kept;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (!p.collapsed_dims.contains(axis) && !p.operand_batch_dims.contains(axis))
      kept.push_back(p.window[axis]);
  }
  Shape out;
  int next_kept = 0, next_position = 0;
  for (int axis = 0; axis < kept.rank() + indices.rank() - 1; ++axis) {
    out.push_back(p.offset_dims.contains(axis) ? kept[next_kept++] : indices[next_position++]);
  }
  return out;
}

// The parameters where the operand (or both operand and indices) and the result have a mapped axis
// in front.
GatherParams behind_batch(const GatherParams& p, bool operand, bool indices, int64_t size) {
  GatherParams q = p;
  q.offset_dims = shifted(p.offset_dims);
  if (operand) {
    q.collapsed_dims = shifted(p.collapsed_dims);
    q.start_index_map = shifted(p.start_index_map);
    q.operand_batch_dims = shifted(p.operand_batch_dims);
    q.window.insert(0, indices ? 1 : size);
  }
  if (indices) q.indices_batch_dims = shifted(p.indices_batch_dims);
  if (operand && indices) {
    q.operand_batch_dims.insert(0, 0);
    q.indices_batch_dims.insert(0, 0);
  } else if (operand) {
    q.offset_dims.insert(0, 0);
  }
  return q;
}

}  // namespace

Aval gather_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<GatherParams>();
  check(a, p);
  const Aval out{a.in[0]->dtype, a.in[0]->weak, result_shape(p, a.in[0]->shape, a.in[1]->shape)};
  check_shape(a.op, out.shape, size_of(out.dtype));
  return out;
}

Aval scatter_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<GatherParams>();
  check(a, p);
  if (a.in[0]->dtype != a.in[2]->dtype) {
    throw DtypeError(describe(a) +
                     ": operand and updates differ in dtype; convert one with astype");
  }
  const Shape expected = result_shape(p, a.in[0]->shape, a.in[1]->shape);
  if (!(a.in[2]->shape == expected)) fail(a, "the updates must have shape " + to_string(expected));
  return *a.in[0];
}

void batch_gather(const BatchArgs& a) {
  const auto& p = a.params.get<GatherParams>();
  a.out[0] = bind1(a.p, a.in, Params::make(behind_batch(p, a.batched[0], a.batched[1], a.size)));
}

void batch_scatter(const BatchArgs& a) {
  const auto& p = a.params.get<GatherParams>();
  const bool indices = a.batched[1];
  const Array operand = materialize_batch(a.in[0], a.batched[0], a.size);
  const Array updates = materialize_batch(a.in[2], a.batched[2], a.size);
  a.out[0] =
      bind1(a.p, {operand, a.in[1], updates}, Params::make(behind_batch(p, true, indices, a.size)));
}

void jvp_scatter_extremum(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  const Array &y = a.out[0], &indices = a.in[1];
  const auto add_at = [&](const Array& base, const Array& updates) {
    return bind1(scatter_add_p, {base, indices, updates}, a.params);
  };
  const Array mine = convert(a.in[0] == y, y.dtype());
  const Array theirs = convert(a.in[2] == gather_like(y, indices, a.params), y.dtype());
  const Array share = add_at(mine, theirs);
  Array t = a.tangents[0].defined() ? a.tangents[0] * mine : zeros_of(a.in[0].aval());
  if (a.tangents[2].defined()) t = add_at(t, a.tangents[2] * theirs);
  a.out_tangents[0] = t / share;
}

bool positions_are_rows(const GatherParams& p, const Aval& indices, const Aval& windows) {
  return indices.shape.rank() > 1 && !p.offset_dims.contains(0) &&
         indices.shape[0] == windows.shape[0];
}

bool sets_in_blocks(const RowArgs& a) {
  const auto& p = a.params.get<GatherParams>();
  const Aval& updates = *a.in[2];
  return p.indices_batch_dims.empty() && has_rows(updates, a.all) &&
         positions_are_rows(p, *a.in[1], updates);
}

bool sums_in_blocks(const RowArgs& a) { return !is_half(a.in[2]->dtype) && sets_in_blocks(a); }

bool one_window(const GatherParams& p, const Shape& indices) {
  int64_t n = 1;
  for (int i = 0; i + 1 < indices.rank(); ++i)
    n *= p.indices_batch_dims.contains(i) ? 1 : indices[i];
  return n <= 1;
}

Array gather_like(const Array& operand, const Array& indices, const Params& params) {
  return bind1(gather_p, {operand, indices}, params);
}

GatherParams take_params(const Shape& x, int axis, int indices_rank) {
  GatherParams p;
  p.collapsed_dims = {axis};
  p.start_index_map = {axis};
  p.window = x;
  p.window[axis] = 1;
  for (int i = 0; i < x.rank() - 1; ++i) p.offset_dims.push_back(i < axis ? i : i + indices_rank);
  return p;
}

GatherParams along_params(const Shape& x, int axis) {
  GatherParams p;
  p.collapsed_dims = {axis};
  p.start_index_map = {axis};
  p.operand_batch_dims = other_axes(x.rank(), p.collapsed_dims);
  p.indices_batch_dims = p.operand_batch_dims;
  p.window = Shape::filled(x.rank(), 1);
  return p;
}

// The integers as index vectors of one entry.
static Array as_vectors(const Array& i) {
  Shape shape = i.shape();
  shape.push_back(1);
  return reshaped(i, shape);
}

Array take_axis(const Array& x, const Array& i, int axis) {
  return bind1(gather_p, {x, as_vectors(i)}, Params::make(take_params(x.shape(), axis, i.rank())));
}

Array take_along(const Array& x, const Array& i, int axis) {
  return bind1(gather_p, {x, as_vectors(i)}, Params::make(along_params(x.shape(), axis)));
}

}  // namespace rules
}  // namespace spruce
