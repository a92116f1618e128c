// SPDX-License-Identifier: Apache-2.0
// associative_scan: all prefixes of an associative operation, in a logarithmic number of steps
// (Blelloch, "Prefix Sums and Their Applications", 1990).
#pragma once

#include "spruce/transforms/control/body/body.h"

namespace spruce {

/// Options of associative_scan.
struct AssociativeScanOptions {
  bool reverse = false;  ///< suffixes instead of prefixes: f(x0, f(x1, x2)), f(x1, x2), x2. The
                         ///< arguments keep their order; JAX hands the later ones over first
};

namespace internal {

using Leaves = std::vector<Array>;
/// The prefixes of `elements`, the defined leaves of xs, along axis 0; `combine` takes the leaves
/// of two runs of elements.
Leaves associative_prefixes(const std::vector<tree::Entry>& xs, Leaves elements, bool reverse,
                            const std::function<Leaves(const Leaves&, const Leaves&)>& combine);

/// f can be called as associative_scan does.
template <class F, class Xs>
constexpr bool check_operation() {
  constexpr bool ok = std::is_invocable_r_v<Xs, const F&, const Xs&, const Xs&>;
  static_assert(ok,
                "spruce: associative_scan(f, xs) takes the function first; f(a, b) takes two trees "
                "of the type of xs, as `const Array&`, and returns one");
  return ok;
}

}  // namespace internal

/// The prefixes x0, f(x0, x1), f(f(x0, x1), x2), ... of an associative f along axis 0. The result
/// has the type of xs, any tree.
///
/// f works on runs of elements at once: its arguments are trees like xs with another size along
/// axis 0, and it must treat each index of that axis by itself, as elementwise operations do (or
/// vmap(f) of a function of single elements). It is called about 2 log2(n) times, so that the work
/// runs in parallel. Made of public operations: every transform goes through it. Throws ShapeError
/// where the leaves differ in length, or where f changes a shape, ValueError where all leaves are
/// undefined.
template <class F, class Xs>
auto associative_scan(const F& f, const Xs& xs, const AssociativeScanOptions& options = {},
                      Loc loc = Loc::current()) {
  const LocScope at(loc);
  if constexpr (internal::check_operation<F, Xs>()) {
    internal::Leaves leaves;
    internal::append_leaves(leaves, xs);
    const auto combine = [&](const internal::Leaves& a, const internal::Leaves& b) {
      const Xs out(internal::call_body("associative_scan", f, internal::with_leaves(xs, a),
                                       internal::with_leaves(xs, b)));
      internal::Leaves result;
      internal::append_leaves(result, out);
      return result;
    };
    return internal::with_leaves(
        xs, internal::associative_prefixes(tree::entries(xs), std::move(leaves), options.reverse,
                                           combine));
  } else {
    return internal::refused<Xs>();
  }
}

}  // namespace spruce
