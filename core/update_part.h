// SPDX-License-Identifier: Apache-2.0
// How the library calls an optimizer. Of the library.
#pragma once

namespace spruce::internal {

/// part.update(grads, state, params, extra...) where the part takes what is handed over besides
/// (the loss, a function), else part.update(grads, state, params).
template <class T, class G, class S, class P, class... E>
auto update_part(const T& part, const G& grads, const S& state, const P& params,
                 const E&... extra) {
  if constexpr (sizeof...(E) != 0 && requires { part.update(grads, state, params, extra...); })
    return part.update(grads, state, params, extra...);
  else
    return part.update(grads, state, params);
}

}  // namespace spruce::internal
