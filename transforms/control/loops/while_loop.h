// SPDX-License-Identifier: Apache-2.0
// while_loop: a loop that runs while a condition of its carry holds.
#pragma once

#include "spruce/transforms/control/body/body.h"

namespace spruce {

/// Options of while_loop.
struct WhileOptions {
  int64_t max_steps = -1;   ///< stops after so many steps, -1: never; needed for reverse mode
  bool checkpoint = false;  ///< reverse mode in memory of about the square root of max_steps
};

namespace internal {

/// Throws ShapeError or DtypeError unless the condition gave one number.
Array checked_condition(const char* op, const Array& value);
std::vector<Array> flat_while(const char* op, std::vector<Array> init,
                              const std::vector<std::string>& paths, const WhileOptions& options,
                              const FlatBody& condition, const FlatBody& body);

/// The condition of while_loop can be called with the carry, and gives a number.
template <class Condition, class Carry>
constexpr bool check_condition() {
  if constexpr (check_call<Condition, Carry>()) {
    constexpr bool ok = std::is_constructible_v<Array, CallResult<Condition, Carry>>;
    static_assert(ok,
                  "spruce: while_loop(condition, body, init) takes the condition first, a function "
                  "of the carry that returns one bool: an Array or a C++ bool");
    return ok;
  } else {
    return false;
  }
}

/// The loop of while_loop and what is made of it; `paths` name the leaves of the carry.
template <class Condition, class F, class Carry>
Carry while_with(const char* op, const std::vector<std::string>& paths, const Condition& condition,
                 const F& body, const Carry& start, const WhileOptions& options) {
  Carry form = start;
  std::vector<Array> leaves;
  append_leaves(leaves, start);
  const auto flat_condition = [&](std::span<const Array> in) {
    const Array more(call_body(op, condition, with_leaves(start, in)));
    return std::vector<Array>{checked_condition(op, more)};
  };
  const auto flat_body = [&](std::span<const Array> in) {
    form = Carry(call_body(op, body, with_leaves(start, in)));
    check_carry_form(op, start, form);
    std::vector<Array> out;
    append_leaves(out, form);
    return out;
  };
  const std::vector<Array> out =
      flat_while(op, std::move(leaves), paths, options, flat_condition, flat_body);
  return with_leaves(form, std::span<const Array>(out));
}

}  // namespace internal

/// carry = body(carry) while condition(carry), starting from `init`. Returns the last carry.
///
/// The condition returns one bool (or number: true where it is not zero). The carry is any tree; it
/// keeps its form, shapes and dtypes, except that a weakly typed one (a C++ number) takes the dtype
/// that the body gives it. Both functions are run once for the types of the carry, and may capture
/// arrays and traced values. Under vmap the loop goes on until all are done; those that are done
/// keep their carry. Forward mode works as it is. Reverse mode needs `max_steps`: the loop then
/// stops there, in every mode, and keeps max_steps carries, or about the square root of it with
/// `checkpoint`. Throws DerivativeError without it, ValueError where it is below -1, and TreeError,
/// ShapeError or DtypeError naming the leaf where the carry changes.
template <class Condition, class F, class Init>
auto while_loop(const Condition& condition, const F& body, const Init& init,
                const WhileOptions& options = {}, Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Carry = internal::BodyTree<Init>;
  if constexpr (!internal::check_condition<Condition, Carry>()) {
    return internal::refused<Array>();
  } else if constexpr (internal::check_body<F, Carry, Carry>()) {
    const Carry start(init);
    return internal::while_with("while_loop", internal::leaf_paths("carry", tree::entries(start)),
                                condition, body, start, options);
  } else {
    return internal::refused<Array>();
  }
}

}  // namespace spruce
