// SPDX-License-Identifier: Apache-2.0
// fori_loop: a loop over whole numbers.
#pragma once

#include "spruce/core/ops/compare.h"
#include "spruce/transforms/control/scan.h"
#include "spruce/transforms/control/while_loop.h"

namespace spruce {

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
  const auto step = [&](const std::pair<Array, Carry>& c) {
    return std::pair{std::pair<Array, Carry>(c.first + Array(1), Carry(body(c.first, c.second))),
                     none};
  };
  return scan(step, std::pair<Array, Carry>(start, Carry(init)),
              {.length = last > first ? last - first : 0})
      .first.second;
}

/// The same for bounds that are arrays, i32[] or i64[]: as while_loop, so that reverse mode needs
/// `{.max_steps = n}`.
template <class F, class Init>
auto fori_loop(const Array& lower, const Array& upper, const F& body, const Init& init,
               const WhileOptions& options = {}, Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Carry = internal::BodyTree<Init>;
  using State = std::tuple<Array, Array, Carry>;
  return std::get<2>(while_loop([](const State& s) { return std::get<0>(s) < std::get<1>(s); },
                                [&](const State& s) {
                                  return State(std::get<0>(s) + Array(1), std::get<1>(s),
                                               Carry(body(std::get<0>(s), std::get<2>(s))));
                                },
                                State(lower, upper, Carry(init)), options));
}

}  // namespace spruce
