// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/sort.h"

#include <algorithm>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/index_plan.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"

namespace spruce {
namespace {

int one_axis(const char* op, const AxisArg& axis, const Array& x) {
  const Axes axes = axis.resolve(op, x.rank());
  if (axes.rank() != 1)
    throw ShapeError(std::string(op) + ": takes one axis, got " + to_string(axes));
  return static_cast<int>(axes[0]);
}

// The keys, first one first, and the indices, ordered along `axis`. What falls is what rises, read
// backwards; reversed before, too, so that equal elements keep their order.
std::vector<Array> ordered(std::vector<Array> operands, int axis, int64_t num_keys,
                           bool descending) {
  const Params params = Params::make(SortParams{axis, num_keys});
  if (!descending) return bind_all(sort_p, operands, params);
  for (Array& x : operands) x = rules::reverse_axes(x, {axis});
  std::vector<Array> out = bind_all(sort_p, operands, params);
  for (Array& x : out) x = rules::reverse_axes(x, {axis});
  return out;
}

Array places(const Array& x, int axis) {
  const internal::SameDevice here(x);
  return rules::iota(x.shape(), rules::count_dtype(x.shape()[axis]), axis);
}

}  // namespace

Array SortFunction::operator()(const Array& x, const AxisArg& axis, const SortOptions& options,
                               Loc loc) const {
  const OpScope at("sort", loc);
  if (axis.all()) return sort(ravel(x), 0, options, loc);
  return ordered({x}, one_axis("sort", axis, x), 1, options.descending)[0];
}

Array ArgsortFunction::operator()(const Array& x, const AxisArg& axis, const SortOptions& options,
                                  Loc loc) const {
  const OpScope at("argsort", loc);
  if (axis.all()) return argsort(ravel(x), 0, options, loc);
  const int k = one_axis("argsort", axis, x);
  return ordered({x, places(x, k)}, k, 1, options.descending)[1];
}

Array LexsortFunction::operator()(const std::vector<Array>& keys, const AxisArg& axis,
                                  Loc loc) const {
  const OpScope at("lexsort", loc);
  internal::require_all_defined("lexsort", keys);
  if (keys.empty()) throw ValueError("lexsort: there are no keys; give at least one array");
  const int k = one_axis("lexsort", axis, keys[0]);
  std::vector<Array> operands(keys.rbegin(), keys.rend());
  for (const Array& x : operands) {
    if (!(x.shape() == keys[0].shape())) {
      throw ShapeError("lexsort: the keys " + to_string(keys[0].aval()) + " and " +
                       to_string(x.aval()) +
                       " differ in shape; broadcast one to the other with broadcast_to");
    }
  }
  operands.push_back(places(keys[0], k));
  return ordered(operands, k, static_cast<int64_t>(keys.size()), false).back();
}

std::pair<Array, Array> TopKFunction::operator()(const Array& x, int64_t k, const AxisArg& axis,
                                                 Loc loc) const {
  const OpScope at("top_k", loc);
  if (axis.all()) return top_k(ravel(x), k, -1, loc);
  const int along = x.rank() == 0 ? 0 : one_axis("top_k", axis, x);
  const bool last = along >= x.rank() - 1;
  const std::vector<Array> out =
      bind_all(top_k_p, {last ? x : moveaxis(x, along, -1)}, Params::make(TopKParams{k}));
  if (last) return {out[0], out[1]};
  return {moveaxis(out[0], -1, along), moveaxis(out[1], -1, along)};
}

Array SearchsortedFunction::operator()(const Array& sorted, const Array& values,
                                       const SearchSortedOptions& options, Loc loc) const {
  const OpScope at("searchsorted", loc);
  internal::require_defined("searchsorted", "sorted", sorted, "values", values);
  if (sorted.rank() != 1) {
    throw ShapeError("searchsorted: the sorted array must have rank 1, got " +
                     to_string(sorted.aval()) + "; map over the others with vmap");
  }
  const Dtype dtype = promote(sorted.dtype(), sorted.weak(), values.dtype(), values.weak());
  return bind1(searchsorted_p, {rules::convert(sorted, dtype), rules::convert(values, dtype)},
               Params::make(SearchSortedParams{options.right}));
}

Array UniqueFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("unique", loc);
  const Aval& type = x.aval();
  if (!internal::on_host(x).defined()) {
    throw TracerError("unique: the shape of the result depends on the values of " +
                      x.impl()->describe() + " of type " + to_string(type) +
                      ", which are not known while its function is traced; call it outside");
  }
  const Array all = sort(ravel(x), 0, {}, loc);
  const int64_t n = all.size();
  if (n == 0) return all;
  const Array before = rules::slice_axis(all, 0, 0, n - 1), after = rules::slice_axis(all, 0, 1, n);
  // NaN differ from each other, but are one element here.
  const Array differs =
      logical_and(not_equal(before, after), logical_or(equal(before, before), equal(after, after)));
  return all[rules::pad_axis(differs, rules::scalar_of(Dtype::kBool, 1), 0, 1, 0)];
}

}  // namespace spruce
