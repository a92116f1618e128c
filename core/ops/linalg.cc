// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/linalg.h"

#include <algorithm>
#include <cstdlib>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/rearrange.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/shape.h"

namespace spruce {

namespace {

// The product of both operands in their common dtype.
Array contract(const Array& a, const Array& b, const Params& axes) {
  if (a.dtype() == b.dtype()) return bind1(dot_general_p, {a, b}, axes);
  const bool weak = a.weak() && b.weak();
  const Dtype dtype = promote(a.dtype(), a.weak(), b.dtype(), b.weak());
  return bind1(dot_general_p, {rules::convert(a, dtype, weak), rules::convert(b, dtype, weak)},
               axes);
}

Array contract(const Array& a, const Array& b, const DotParams& axes) {
  return contract(a, b, dot_params(axes));
}

// The last axis of a with the last but one of b, or its only one.
Array product(const Array& a, const Array& b) {
  if (a.rank() == 2 && b.rank() == 2) {
    static const Params& matrices = *new Params(dot_params({{1}, {0}, {}, {}}));
    return contract(a, b, matrices);
  }
  return contract(a, b, {{a.rank() - 1}, {std::max(b.rank() - 2, 0)}, {}, {}});
}

Axes last_axes(int rank, int count) {
  Axes out;
  for (int i = rank - count; i < rank; ++i) out.push_back(i);
  return out;
}

std::string both(const Array& a, const Array& b) {
  return "a " + to_string(a.aval()) + ", b " + to_string(b.aval());
}

void check_contracted(const char* op, const Array& a, int a_axis, const Array& b, int b_axis) {
  const int64_t x = a.shape()[a_axis], y = b.shape()[b_axis];
  if (x == y) return;
  throw ShapeError(std::string(op) + ": the contracted sizes differ: a " + to_string(a.aval()) +
                   " has " + std::to_string(x) + " on axis " + std::to_string(a_axis) + ", b " +
                   to_string(b.aval()) + " has " + std::to_string(y) + " on axis " +
                   std::to_string(b_axis));
}

Array flat(const Array& x) { return x.rank() == 1 ? x : reshape(x, {x.size()}); }

// matmul of operands of rank 2 and more. An axis of size 1 in front that meets a larger one is
// dropped and the other one left free, so nothing is broadcast in memory.
Array batched_matmul(const Array& a, const Array& b) {
  const int ra = a.rank() - 2, rb = b.rank() - 2, rank = std::max(ra, rb);
  const Shape a_front(std::span<const int64_t>(a.shape().data(), ra)),
      b_front(std::span<const int64_t>(b.shape().data(), rb));
  const Shape front = broadcast_shapes("matmul", a_front, b_front);
  Axes a_keep, b_keep;        // axes of the operands that are left
  Axes a_batch, b_batch;      // positions in these
  Axes batch_to, a_to, b_to;  // which axes of the result they give
  for (int i = 0; i < rank; ++i) {
    const int x = i - (rank - ra), y = i - (rank - rb);
    const bool in_a = x >= 0 && (a_front[x] != 1 || front[i] == 1),
               in_b = y >= 0 && (b_front[y] != 1 || front[i] == 1);
    if (in_a && in_b) {
      a_batch.push_back(a_keep.rank());
      b_batch.push_back(b_keep.rank());
      batch_to.push_back(i);
    } else {
      (in_a ? a_to : b_to).push_back(i);
    }
    if (in_a) a_keep.push_back(a.shape()[x]);
    if (in_b) b_keep.push_back(b.shape()[y]);
  }
  const int ka = a_keep.rank(), kb = b_keep.rank();
  for (int i = 0; i < 2; ++i)
    a_keep.push_back(a.shape()[ra + i]), b_keep.push_back(b.shape()[rb + i]);
  const Array out =
      contract(reshape(a, a_keep), reshape(b, b_keep), {{ka + 1}, {kb}, a_batch, b_batch});
  // It has the axes batch_to, a_to, rows, b_to, columns.
  Axes at = batch_to;
  for (const int64_t i : a_to) at.push_back(i);
  at.push_back(rank);
  for (const int64_t i : b_to) at.push_back(i);
  at.push_back(rank + 1);
  Axes perm = at;
  for (int i = 0; i < at.rank(); ++i) perm[at[i]] = i;
  return at == perm && std::is_sorted(at.begin(), at.end()) ? out
                                                            : rules::transpose_axes(out, perm);
}

}  // namespace

Array DotGeneralFunction::operator()(const Array& a, const Array& b, const DotParams& axes,
                                     Loc loc) const {
  const OpScope at("dot_general", loc);
  internal::require_defined("dot_general", "a", a, "b", b);
  return contract(a, b,
                  {normalize_axes("dot_general", axes.lhs_contract, a.rank()),
                   normalize_axes("dot_general", axes.rhs_contract, b.rank()),
                   normalize_axes("dot_general", axes.lhs_batch, a.rank()),
                   normalize_axes("dot_general", axes.rhs_batch, b.rank())});
}

Array MatmulFunction::operator()(const Array& a, const Array& b, Loc loc) const {
  const OpScope at("matmul", loc);
  internal::require_defined("matmul", "a", a, "b", b);
  if (a.rank() == 0 || b.rank() == 0) {
    throw ShapeError("matmul: an operand has no axes: " + both(a, b) + "; multiply by it with *");
  }
  const int ka = a.rank() - 1, kb = std::max(b.rank() - 2, 0);
  check_contracted("matmul", a, ka, b, kb);
  if (b.rank() <= 2) return product(a, b);
  if (a.rank() == 1) {
    const Array out = batched_matmul(reshape(a, {1, a.shape()[0]}), b);
    return squeeze(out, -2);
  }
  return batched_matmul(a, b);
}

Array DotFunction::operator()(const Array& a, const Array& b, Loc loc) const {
  const OpScope at("dot", loc);
  internal::require_defined("dot", "a", a, "b", b);
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b);
  const int ka = a.rank() - 1, kb = std::max(b.rank() - 2, 0);
  check_contracted("dot", a, ka, b, kb);
  return product(a, b);
}

Array VdotFunction::operator()(const Array& a, const Array& b, Loc loc) const {
  const OpScope at("vdot", loc);
  internal::require_defined("vdot", "a", a, "b", b);
  if (a.size() != b.size()) {
    throw ShapeError("vdot: the operands have " + std::to_string(a.size()) + " and " +
                     std::to_string(b.size()) + " elements: " + both(a, b));
  }
  return contract(flat(a), flat(b), {{0}, {0}, {}, {}});
}

Array InnerFunction::operator()(const Array& a, const Array& b, Loc loc) const {
  const OpScope at("inner", loc);
  internal::require_defined("inner", "a", a, "b", b);
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b);
  check_contracted("inner", a, a.rank() - 1, b, b.rank() - 1);
  return contract(a, b, {{a.rank() - 1}, {b.rank() - 1}, {}, {}});
}

Array OuterFunction::operator()(const Array& a, const Array& b, Loc loc) const {
  const OpScope at("outer", loc);
  internal::require_defined("outer", "a", a, "b", b);
  return multiply(reshape(a, {a.size(), 1}), flat(b));
}

Array TensordotFunction::operator()(const Array& a, const Array& b, const AxisArg& a_axes,
                                    const AxisArg& b_axes, Loc loc) const {
  const OpScope at("tensordot", loc);
  internal::require_defined("tensordot", "a", a, "b", b);
  const Axes x = a_axes.resolve("tensordot", a.rank()), y = b_axes.resolve("tensordot", b.rank());
  if (x.rank() != y.rank()) {
    throw ShapeError("tensordot: axes " + to_string(x) + " of a and " + to_string(y) +
                     " of b are not as many; " + both(a, b));
  }
  for (int i = 0; i < x.rank(); ++i)
    check_contracted("tensordot", a, static_cast<int>(x[i]), b, static_cast<int>(y[i]));
  return contract(a, b, {x, y, {}, {}});
}

Array TensordotFunction::operator()(const Array& a, const Array& b, int axes, Loc loc) const {
  const OpScope at("tensordot", loc);
  internal::require_defined("tensordot", "a", a, "b", b);
  if (axes < 0 || axes > a.rank() || axes > b.rank()) {
    throw ShapeError("tensordot: cannot sum over " + std::to_string(axes) + " axes of " +
                     both(a, b));
  }
  return tensordot(a, b, last_axes(a.rank(), axes), last_axes(axes, axes));
}

Array VecdotFunction::operator()(const Array& a, const Array& b, const VecdotOptions& options,
                                 Loc loc) const {
  const OpScope at("vecdot", loc);
  internal::require_defined("vecdot", "a", a, "b", b);
  const Shape shape = broadcast_shapes("vecdot", a.shape(), b.shape());
  const int axis = normalize_axis("vecdot", options.axis, shape.rank());
  const Axes batch = rules::other_axes(shape.rank(), {axis});
  return contract(broadcast_to(a, shape), broadcast_to(b, shape), {{axis}, {axis}, batch, batch});
}

Array KronFunction::operator()(const Array& a, const Array& b, Loc loc) const {
  const OpScope at("kron", loc);
  internal::require_defined("kron", "a", a, "b", b);
  const int rank = std::max(a.rank(), b.rank());
  Shape x, y, out;
  for (int i = 0; i < rank; ++i) {
    const int64_t m = i < rank - a.rank() ? 1 : a.shape()[i - (rank - a.rank())];
    const int64_t p = i < rank - b.rank() ? 1 : b.shape()[i - (rank - b.rank())];
    int64_t size;
    if (__builtin_mul_overflow(m, p, &size))
      throw ShapeError("kron: the result is too large to count; " + both(a, b));
    for (const int64_t s : {m, int64_t{1}}) x.push_back(s);
    for (const int64_t s : {int64_t{1}, p}) y.push_back(s);
    out.push_back(size);
  }
  return reshape(multiply(reshape(a, x), reshape(b, y)), out);
}

Array CrossFunction::operator()(const Array& a, const Array& b, const CrossOptions& options,
                                Loc loc) const {
  const OpScope at("cross", loc);
  internal::require_defined("cross", "a", a, "b", b);
  const Shape shape = broadcast_shapes("cross", a.shape(), b.shape());
  const int axis = normalize_axis("cross", options.axis, shape.rank());
  const auto three = [&](const Array& x) {
    const int from_end = shape.rank() - axis;
    return from_end <= x.rank() && x.shape()[x.rank() - from_end] == 3;
  };
  if (!three(a) || !three(b)) {
    throw ShapeError("cross: both operands need three components on axis " +
                     std::to_string(options.axis) + ": " + both(a, b));
  }
  // Loops over rows of three elements are slow, so the components become the first axis.
  const int at_axis = axis == shape.rank() - 1 ? 0 : axis;
  const Array x = moveaxis(broadcast_to(a, shape), axis, at_axis),
              y = moveaxis(broadcast_to(b, shape), axis, at_axis);
  const auto from = [&](const Array& v, int64_t first) { return roll(v, -first, at_axis); };
  const Array z = multiply(from(x, 1), from(y, 2)) - multiply(from(x, 2), from(y, 1));
  return moveaxis(z, at_axis, axis);
}

Array DiagonalFunction::operator()(const Array& x, const DiagonalOptions& options, Loc loc) const {
  const OpScope at("diagonal", loc);
  if (x.rank() < 2)
    throw ShapeError("diagonal: needs two axes, got " + to_string(x.aval()) +
                     "; diag() makes a matrix of a vector");
  const Axes pair = normalize_axes("diagonal", {options.axis1, options.axis2}, x.rank());
  Axes perm = rules::other_axes(x.rank(), pair);
  for (const int64_t axis : pair) perm.push_back(axis);
  const int64_t n = x.shape()[pair[0]], m = x.shape()[pair[1]], k = options.offset;
  // As unsigned numbers, so that no offset is too large.
  const bool beyond =
      k >= 0 ? k >= m : static_cast<uint64_t>(-(k + 1)) + 1 >= static_cast<uint64_t>(n);
  const int64_t count = beyond ? 0 : k >= 0 ? std::min(n, m - k) : std::min(n + k, m);
  Array moved = std::is_sorted(perm.begin(), perm.end()) ? x : rules::transpose_axes(x, perm);
  Shape shape = moved.shape();
  shape.erase(x.rank() - 1);
  shape.back() = n * m;
  const Array line = reshape(moved, shape);
  const int axis = x.rank() - 2;
  if (count == 0) return rules::slice_axis(line, axis, 0, 0);
  const int64_t first = k >= 0 ? k : -k * m;
  return rules::slice_axis(line, axis, first, first + (count - 1) * (m + 1) + 1, m + 1);
}

Array TraceFunction::operator()(const Array& x, const DiagonalOptions& options, Loc loc) const {
  const OpScope at("trace", loc);
  return sum(diagonal(x, options), -1);
}

Array DiagFunction::operator()(const Array& x, const DiagOptions& options, Loc loc) const {
  const OpScope at("diag", loc);
  const int64_t k = options.offset;
  if (x.rank() == 2) return diagonal(x, {.offset = k});
  if (x.rank() != 1)
    throw ShapeError("diag: takes a vector or a matrix, got " + to_string(x.aval()) +
                     "; diagonal() takes any rank");
  const int64_t n = x.shape()[0];
  int64_t size;
  if (k == INT64_MIN || __builtin_add_overflow(n, std::abs(k), &size)) {
    throw ShapeError("diag: the offset " + std::to_string(k) +
                     " makes a matrix that is too large to count");
  }
  check_shape("diag", {size, size}, size_of(x.dtype()));
  if (n == 0) return zeros({size, size}, x.dtype());
  const int64_t low = k >= 0 ? k : -k * size;
  const Array line = rules::pad_all(x, rules::scalar_of(x.dtype(), 0), {low},
                                    {size * size - low - n - (n - 1) * size}, {size});
  return reshape(line, {size, size});
}

}  // namespace spruce
