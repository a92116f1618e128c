// SPDX-License-Identifier: Apache-2.0
// Calling a layer, whatever its arguments. Of the library.
#pragma once

#include "spruce/nn/context.h"

namespace spruce::nn::internal {

/// Calls a layer or any other function, with the context and the line where it takes them: behind
/// the arguments, or the context in front of a last argument with options.
template <class L, class... A>
decltype(auto) call_with_context(const L& layer, Context& ctx, Loc loc, const A&... args) {
  if constexpr (std::is_invocable_v<const L&, const A&..., Context&, Loc>) {
    const ObjectScope inside(ctx, layer);
    return layer(args..., ctx, loc);
  } else if constexpr (std::is_invocable_v<const L&, const A&..., Context&>) {
    const ObjectScope inside(ctx, layer);
    return layer(args..., ctx);
  } else if constexpr (sizeof...(A) > 1 && [] {
                         using All = std::tuple<const A&...>;
                         return []<size_t... I>(std::index_sequence<I...>) {
                           return std::is_invocable_v<const L&, std::tuple_element_t<I, All>...,
                                                      Context&,
                                                      std::tuple_element_t<sizeof...(I), All>>;
                         }
                         (std::make_index_sequence < sizeof...(A) == 0 ? 0 : sizeof...(A) - 1 > ());
                       }()) {
    const ObjectScope inside(ctx, layer);
    const std::tuple<const A&...> all(args...);
    return [&]<size_t... I>(std::index_sequence<I...>)->decltype(auto) {
      return layer(std::get<I>(all)..., ctx, std::get<sizeof...(I)>(all));
    }
    (std::make_index_sequence<sizeof...(A) - 1>());
  } else if constexpr (std::is_invocable_v<const L&, const A&..., Loc>) {
    if constexpr (requires { layer(args..., {}, ctx, loc); }) {  // a state that is left out
      if (ctx.training) {
        const ObjectScope inside(ctx, layer);
        return layer(args..., {}, ctx, loc);
      }
    }
    return layer(args..., loc);
  } else if constexpr (requires { layer(args..., {}, loc); }) {  // options between them
    return layer(args..., {}, loc);
  } else {
    if constexpr (requires { layer(args..., {}, ctx); }) {  // the same, of RNN and GRU
      if (ctx.training) {
        const ObjectScope inside(ctx, layer);
        return layer(args..., {}, ctx);
      }
    }
    return layer(args...);
  }
}

}  // namespace spruce::nn::internal
