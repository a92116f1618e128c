// SPDX-License-Identifier: Apache-2.0
// fori_loop: a loop over whole numbers.
#pragma once

#include "spruce/core/ops/compare.h"
#include "spruce/transforms/control/scan.h"
#include "spruce/transforms/control/while_loop.h"

namespace spruce {
namespace internal {

/// The paths of a carry behind the index, for messages.
template <class Carry>
std::vector<std::string> counted_paths(size_t counters, const Carry& carry) {
  std::vector<std::string> paths = leaf_paths("carry", tree::entries(carry));
  paths.insert(paths.begin(), counters, "the index");
  return paths;
}
/// The next carry of fori_loop, of the same form.
template <class F, class Carry>
Carry counted_step(const F& body, const Array& i, const Carry& carry) {
  Carry next(body(i, carry));
  check_carry_form("fori_loop", carry, next);
  return next;
}
/// Throws ShapeError or DtypeError unless it is one integer.
void check_bound(const Array& bound);

}  // namespace internal

/// carry = body(i, carry) for i in lower, lower + 1, ..., upper - 1; i is an Array, i32[] (i64[]
/// where the bounds do not fit). The number of steps is known, so that every transform works, as
/// for scan. None if upper <= lower.
template <std::integral I, std::integral J, class F, class Init>
auto fori_loop(I lower, J upper, const F& body, const Init& init, Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Carry = internal::BodyTree<Init>;
  const auto first = static_cast<int64_t>(lower), last = static_cast<int64_t>(upper);
  const bool narrow = first >= INT32_MIN && last <= INT32_MAX;
  const Array start = narrow ? array(static_cast<int32_t>(first)) : array(first);
  const Carry carry(init);
  const internal::Slices steps =
      internal::slices_of("fori_loop", {}, last > first ? last - first : 0);
  using State = std::pair<Array, Carry>;
  const auto step = [&](const State& c, std::span<const Array>) {
    return std::pair{State(c.first + Array(1), internal::counted_step(body, c.first, c.second)),
                     none};
  };
  return internal::scan_with("fori_loop", internal::counted_paths(1, carry), State(start, carry),
                             steps, {}, step)
      .first.second;
}

/// The same for bounds that are arrays, one integer each: as while_loop, so that reverse mode needs
/// `{.max_steps = n}`. Throws DtypeError or ShapeError for other bounds.
template <class F, class Init>
auto fori_loop(const Array& lower, const Array& upper, const F& body, const Init& init,
               const WhileOptions& options = {}, Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Carry = internal::BodyTree<Init>;
  using State = std::tuple<Array, Array, Carry>;
  internal::check_bound(lower);
  internal::check_bound(upper);
  const Carry carry(init);
  const auto more = [](const State& s) { return std::get<0>(s) < std::get<1>(s); };
  const auto next = [&](const State& s) {
    return State(std::get<0>(s) + Array(1), std::get<1>(s),
                 internal::counted_step(body, std::get<0>(s), std::get<2>(s)));
  };
  return std::get<2>(internal::while_with("fori_loop", internal::counted_paths(2, carry), more,
                                          next, State(lower, upper, carry), options));
}

}  // namespace spruce
