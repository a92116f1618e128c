// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/grouped_mm.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn {
namespace {

[[noreturn]] void throw_shapes(const Array& a, const Array& b, const Array& offs) {
  throw ShapeError("grouped_mm: mat_a " + to_string(a.aval()) + ", mat_b " + to_string(b.aval()) +
                   (offs.defined() ? " and offs " + to_string(offs.aval()) : std::string()) +
                   " do not fit: they must be f[m, k] or f[g, m, k], f[k, n] or f[g, k, n], and "
                   "i[g] where one of them has no groups");
}

// bool [g, size]: which of `size` places each group has.
Array groups_of(const Array& offs, int64_t size) {
  const Array places = arange(size, offs.dtype());
  const Array ends = expand_dims(offs, 1);
  const Array begins =
      expand_dims(concatenate({zeros({1}, offs.dtype()), offs[slice(0, offs.size() - 1)]}, 0), 1);
  return logical_and(greater_equal(places, begins), less(places, ends));
}

}  // namespace

Array GroupedMmFunction::operator()(const Array& a, const Array& b, const Array& offs,
                                    Loc loc) const {
  const OpScope at("grouped_mm", loc);
  spruce::internal::require_defined("grouped_mm", "mat_a", a, "mat_b", b);
  const bool both = a.rank() == 3 && b.rank() == 3;
  if (a.rank() < 2 || a.rank() > 3 || b.rank() < 2 || b.rank() > 3 || a.shape(-1) != b.shape(-2))
    throw_shapes(a, b, offs);
  if (both != !offs.defined()) {
    throw ValueError(std::string("grouped_mm: ") +
                     (both ? "both matrices have groups, and offs are given; leave them out"
                           : "offs are missing, which say where groups end"));
  }
  if (both) {
    if (a.shape(0) != b.shape(0)) throw_shapes(a, b, offs);
    return matmul(a, b);
  }
  if (!is_integer(offs.dtype())) {
    throw DtypeError("grouped_mm: offs are " + to_string(offs.aval()) + "; they must be integers");
  }
  const int64_t groups = offs.rank() == 1 ? offs.size() : -1;
  if (groups < 1 || (a.rank() == 3 && a.shape(0) != groups) ||
      (b.rank() == 3 && b.shape(0) != groups)) {
    throw_shapes(a, b, offs);
  }
  const Array zero = zeros({}, a.dtype());
  if (a.rank() == 2 && b.rank() == 2) {
    const Array of_group = expand_dims(groups_of(offs, a.shape(1)), 1);  // [g, 1, k]
    return matmul(where(of_group, a, zero), b);
  }
  if (a.rank() == 2) {
    const Array of_group = expand_dims(groups_of(offs, a.shape(0)), 2);  // [g, m, 1]
    return sum(where(of_group, matmul(a, b), zero), 0);
  }
  const Array of_group = expand_dims(groups_of(offs, b.shape(1)), 1);  // [g, 1, n]
  return sum(where(of_group, matmul(a, b), zero), 0);
}

}  // namespace spruce::nn
