// SPDX-License-Identifier: Apache-2.0
// cond: one of two functions, chosen by a value.
#pragma once

#include "spruce/transforms/control/branches/switch.h"

namespace spruce {
namespace internal {

/// i32[], 1 where the predicate holds. Throws ShapeError.
Array predicate_index(const Array& predicate);

}  // namespace internal

/// on_true(args...) where the predicate holds, else on_false(args...). Only the one that is chosen
/// is computed; under vmap of the predicate both are, and the results selected.
///
/// The predicate is one bool (or number: true where it is not zero). The arguments and the result
/// are any trees; both functions give results of one form and types, except that what one of them
/// gives weakly (a C++ number) takes the dtype of the other. Both are run once for the types of the
/// arguments, and may capture arrays and traced values. Differentiable with respect to the
/// arguments and to what is captured. Throws TreeError, ShapeError or DtypeError naming the leaf
/// where the results differ.
template <class F, class G, class... Args>
auto cond(Operand predicate, const F& on_true, const G& on_false, const Args&... args) {
  const LocScope at(predicate.loc);
  if constexpr (internal::check_branches<std::tuple<std::decay_t<F>, std::decay_t<G>>, Args...>()) {
    using Out = internal::BranchResult<std::decay_t<F>, Args...>;
    const internal::Branches<Out, Args...> branches{
        [&](const Args&... a) { return Out(on_false(a...)); },
        [&](const Args&... a) { return Out(on_true(a...)); }};
    return internal::switch_over<Out, Args...>("cond", internal::predicate_index(predicate.array),
                                               branches, args...);
  } else {
    return internal::refused<Array>();
  }
}

}  // namespace spruce
