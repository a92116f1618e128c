// SPDX-License-Identifier: Apache-2.0
// map: a function of each slice, one after the other.
#pragma once

#include "spruce/transforms/control/loops/scan.h"

namespace spruce {

/// f(x) for each slice x of xs along axis 0, stacked: what vmap(f)(xs) gives, in the memory that
/// one slice takes, or one for each thread if it is small. xs, result: any trees. Throws as scan.
template <class F, class Xs>
auto map(const F& f, const Xs& xs, Loc loc = Loc::current()) {
  const LocScope at(loc);
  if constexpr (internal::check_run<F, Xs>()) {
    const internal::Slices slices = internal::slices_of("map", tree::entries(xs), -1);
    return internal::scan_with("map", {}, none, slices, {},
                               [&](const None&, std::span<const Array> x) {
                                 return std::pair{
                                     none,
                                     internal::call_body("map", f, internal::with_leaves(xs, x))};
                               })
        .second;
  } else {
    return internal::refused<Array>();
  }
}

}  // namespace spruce
