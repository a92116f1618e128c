// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/random/check.h"
#include "spruce/core/random/random.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"

namespace spruce::random {
namespace {

// Sorting by random words shuffles, but for words that are equal. As often as JAX does it, the
// words of all rounds together differ but for a chance of about 1 / n.
int rounds(int64_t n) {
  return static_cast<int>(std::ceil(3 * std::log(static_cast<double>(std::max<int64_t>(1, n))) /
                                    std::log(4294967295.0)));
}

// Where each element along the axis comes from, i32 of that shape; undefined where all stay.
Array shuffled_places(Key key, const Shape& shape, int axis) {
  int round = rounds(shape.numel());
  if (round == 0) return {};
  Array places = rules::iota(shape, rules::count_dtype(shape[axis]), axis);
  for (; round > 0; --round) {
    auto [next, now] = split<2>(key);
    places = bind_all(sort_p, {bits(now, shape), places}, Params::make(SortParams{axis, 1}))[1];
    key = std::move(next);
  }
  return places;
}

}  // namespace

Array PermutationFunction::operator()(const Key& key, int64_t n, Loc loc) const {
  const OpScope at("permutation", loc);
  const spruce::internal::SameDevice here(internal::one_key("permutation", key));
  if (n < 0) throw ValueError("permutation: cannot order " + std::to_string(n) + " numbers");
  const Array places = shuffled_places(key, Shape{n}, 0);
  return places.defined() ? places : arange(n, int32);
}

Array PermutationFunction::operator()(const Key& key, const Array& x,
                                      const PermutationOptions& options, Loc loc) const {
  const OpScope at("permutation", loc);
  const spruce::internal::SameDevice here(internal::one_key("permutation", key));
  const int axis = normalize_axis("permutation", options.axis, x.rank());
  if (options.independent) {
    const Array places = shuffled_places(key, x.shape(), axis);
    return places.defined() ? take_along_axis(x, places, axis) : x;
  }
  const Array places = shuffled_places(key, Shape{x.shape(axis)}, 0);
  return places.defined() ? take(x, places, axis) : x;
}

}  // namespace spruce::random
