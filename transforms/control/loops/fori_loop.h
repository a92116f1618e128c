// SPDX-License-Identifier: Apache-2.0
// fori_loop: a loop over whole numbers.
#pragma once

#include "spruce/core/ops/compare.h"
#include "spruce/transforms/control/loops/scan.h"
#include "spruce/transforms/control/loops/while_loop.h"

namespace spruce {
namespace internal {

[[noreturn]] void throw_bound(uint64_t bound);

/// The body of fori_loop can be run, and gives a carry of the type that the loop starts from.
template <class F, class Carry>
constexpr bool check_counted() {
  constexpr CallFault fault = call_fault<F, Array, Carry>();
  constexpr bool ok = fault != CallFault::kCount && fault != CallFault::kTypes;
  static_assert(ok,
                "spruce: the body of fori_loop(lower, upper, body, init) is called as body(i, "
                "carry), where i is an Array: write `const Array& i`");
  if constexpr (ok)
    return check_body<F, Carry, Array, Carry>();
  else
    return false;
}

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
  Carry next(call_body("fori_loop", body, i, carry));
  check_carry_form("fori_loop", carry, next);
  return next;
}
/// The bounds as one dtype that holds the values of both. Throws ShapeError or DtypeError unless
/// each is one integer and there is such a dtype.
std::pair<Array, Array> common_bounds(const Array& lower, const Array& upper);
/// How many steps there are. Throws ValueError for more than an int64 counts.
int64_t step_count(int64_t first, int64_t last);
/// A bound as int64. Throws ValueError for one that it does not hold.
template <std::integral I>
int64_t loop_bound(I bound) {
  if constexpr (std::is_unsigned_v<I>) {
    if (static_cast<uint64_t>(bound) > uint64_t{INT64_MAX}) throw_bound(bound);
  }
  return static_cast<int64_t>(bound);
}

}  // namespace internal

/// carry = body(i, carry) for i in lower, lower + 1, ..., upper - 1; i is an Array, i32[] (i64[]
/// where the bounds do not fit). The number of steps is known, so that every transform works, as
/// for scan. None if upper <= lower. Throws ValueError where the number of steps is no int64.
template <std::integral I, std::integral J, class F, class Init>
auto fori_loop(I lower, J upper, const F& body, const Init& init, Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Carry = internal::BodyTree<Init>;
  if constexpr (internal::check_counted<F, Carry>()) {
    const int64_t first = internal::loop_bound(lower), last = internal::loop_bound(upper);
    const bool narrow = first >= INT32_MIN && last <= INT32_MAX;
    const Array start = narrow ? array(static_cast<int32_t>(first)) : array(first);
    const Carry carry(init);
    const internal::Slices steps =
        internal::slices_of("fori_loop", {}, internal::step_count(first, last));
    using State = std::pair<Array, Carry>;
    const auto step = [&](const State& c, std::span<const Array>) {
      return std::pair{State(c.first + Array(1), internal::counted_step(body, c.first, c.second)),
                       none};
    };
    return internal::scan_with("fori_loop", internal::counted_paths(1, carry), State(start, carry),
                               steps, {}, step)
        .first.second;
  } else {
    return internal::refused<Array>();
  }
}

/// The same for bounds that are arrays, one integer each: as while_loop, so that reverse mode needs
/// `{.max_steps = n}`. The index has the dtype that holds both bounds. Throws DtypeError or
/// ShapeError for other bounds, and for i64 with u64, which no integer dtype holds.
template <class F, class Init>
auto fori_loop(const Array& lower, const Array& upper, const F& body, const Init& init,
               const WhileOptions& options = {}, Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Carry = internal::BodyTree<Init>;
  using State = std::tuple<Array, Array, Carry>;
  if constexpr (internal::check_counted<F, Carry>()) {
    const auto [first, last] = internal::common_bounds(lower, upper);
    const Carry carry(init);
    const auto more = [](const State& s) { return std::get<0>(s) < std::get<1>(s); };
    const auto next = [&](const State& s) {
      return State(std::get<0>(s) + Array(1), std::get<1>(s),
                   internal::counted_step(body, std::get<0>(s), std::get<2>(s)));
    };
    return std::get<2>(internal::while_with("fori_loop", internal::counted_paths(2, carry), more,
                                            next, State(first, last, carry), options));
  } else {
    return internal::refused<Array>();
  }
}

}  // namespace spruce
