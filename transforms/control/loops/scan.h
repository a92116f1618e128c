// SPDX-License-Identifier: Apache-2.0
// scan: a loop of known length that carries a tree from step to step.
#pragma once

#include <optional>

#include "spruce/core/axis_arg.h"
#include "spruce/transforms/control/body/body.h"

namespace spruce {

/// Options of scan.
struct ScanOptions {
  int64_t length = -1;      ///< number of steps, where there are no xs; else that of their slices
  bool reverse = false;     ///< from the last slice to the first; results stay in their places
  int64_t unroll = 1;       ///< steps in one turn of a compiled loop: copies of the body
  bool checkpoint = false;  ///< reverse mode keeps the carry of each step alone and computes the
                            ///< rest of the step again
};

namespace internal {

/// The leaves of xs, checked to have one length, and how a body sees them.
struct Slices {
  std::vector<Array> leaves;
  std::vector<Aval> types;  // of one slice
  int64_t length;
};
/// Throws ShapeError or ValueError where leaves have no first axis, or where lengths differ.
Slices slices_of(const char* op, const std::vector<tree::Entry>& xs, int64_t length);

/// Runs the loop: `step` takes the leaves of the carry and of a slice and returns those of the next
/// carry, as many as `init` has, and of what is stacked. Returns the last carry and the stacked
/// leaves.
std::vector<Array> flat_scan(const char* op, std::vector<Array> init,
                             const std::vector<std::string>& paths, const Slices& xs,
                             const ScanOptions& options, const FlatBody& step);

template <class T>
struct IsStep : std::false_type {};
template <class C, class Y>
struct IsStep<std::pair<C, Y>> : std::true_type {};

/// The body of scan can be run, and returns the next carry with what is stacked.
template <class F, class Carry, class... Xs>
constexpr bool check_step() {
  if constexpr (check_run<F, Carry, Xs...>()) {
    using Step = CallResult<F, Carry, Xs...>;
    constexpr bool pair = IsStep<Step>::value;
    static_assert(pair,
                  "spruce: the body of scan returns std::pair{carry, y}; y is spruce::none where "
                  "nothing is to be stacked");
    if constexpr (pair) {
      constexpr bool same = std::is_same_v<BodyTree<typename Step::first_type>, Carry>;
      static_assert(same,
                    "spruce: the carry that the body of scan returns has another type than the one "
                    "that it starts from");
      return same;
    }
  }
  return false;
}

/// The loop of scan and what is made of it; `paths` name the leaves of the carry. `call(carry,
/// leaves of the slice)` is the user's body.
template <class Carry, class Call>
auto scan_with(const char* op, const std::vector<std::string>& paths, const Carry& init,
               const Slices& xs, const ScanOptions& options, const Call& call) {
  using Step =
      std::decay_t<std::invoke_result_t<const Call&, const Carry&, std::span<const Array>>>;
  using Next = BodyTree<typename Step::first_type>;
  using Y = BodyTree<typename Step::second_type>;
  std::vector<Array> leaves;
  append_leaves(leaves, init);
  const size_t carried = leaves.size();
  std::optional<std::pair<Next, Y>> form;
  const FlatBody step = [&](std::span<const Array> in) {
    const Carry carry = with_leaves(init, in.first(carried));
    const Step result = call(carry, in.subspan(carried));
    form.emplace(Next(result.first), Y(result.second));
    check_carry_form(op, init, form->first);
    std::vector<Array> out;
    append_leaves(out, form->first);
    append_leaves(out, form->second);
    return out;
  };
  const std::vector<Array> out = flat_scan(op, std::move(leaves), paths, xs, options, step);
  const std::span<const Array> all(out);
  return std::pair<Carry, Y>(with_leaves(form->first, all.first(carried)),
                             with_leaves(form->second, all.subspan(carried)));
}

}  // namespace internal

/// Steps through xs: {carry, y} = f(carry, x) for each slice x of xs along axis 0, starting from
/// `init`. Returns {the last carry, the ys stacked along a new axis 0}.
///
/// Carry, x and y are any trees; y may be `none`. The carry keeps its form, shapes and dtypes; a
/// weakly typed one (a C++ number) takes the dtype that f gives it. Under every transform f is run
/// once for the types of its arguments, not once a step; arrays and traced values that it captures
/// are handed to the loop, and can be differentiated and mapped. Reverse mode keeps of each step
/// what its derivative needs. Throws TreeError, ShapeError or DtypeError naming the leaf where the
/// carry changes, ShapeError where the leaves of xs differ in length.
template <class F, class Init, class Xs>
auto scan(const F& f, const Init& init, const Xs& xs, const ScanOptions& options = {},
          Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Carry = internal::BodyTree<Init>;
  if constexpr (internal::check_step<F, Carry, Xs>()) {
    const internal::Slices slices = internal::slices_of("scan", tree::entries(xs), options.length);
    const Carry start(init);
    return internal::scan_with("scan", internal::leaf_paths("carry", tree::entries(start)), start,
                               slices, options, [&](const Carry& carry, std::span<const Array> x) {
                                 return internal::call_body("scan", f, carry,
                                                            internal::with_leaves(xs, x));
                               });
  } else {
    return internal::refused<std::pair<Array, Array>>();
  }
}

/// The same for a body without xs: {carry, y} = f(carry), `options.length` times.
template <class F, class Init>
auto scan(const F& f, const Init& init, const ScanOptions& options, Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Carry = internal::BodyTree<Init>;
  if constexpr (internal::check_step<F, Carry>()) {
    const internal::Slices slices = internal::slices_of("scan", {}, options.length);
    const Carry start(init);
    return internal::scan_with("scan", internal::leaf_paths("carry", tree::entries(start)), start,
                               slices, options, [&](const Carry& carry, std::span<const Array>) {
                                 return internal::call_body("scan", f, carry);
                               });
  } else {
    return internal::refused<std::pair<Array, Array>>();
  }
}

}  // namespace spruce
