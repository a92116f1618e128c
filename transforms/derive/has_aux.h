// SPDX-License-Identifier: Apache-2.0
// has_aux: a function whose result is differentiated in part.
#pragma once

#include <tuple>
#include <utility>

#include "spruce/transforms/function/checked_function.h"

namespace spruce {

/// Behind a function that is given to a transform, `vjp(f, has_aux, x)` or `jacrev(f, has_aux)`: f
/// returns a pair or tuple, of which only the first element is differentiated. The rest (of a pair
/// the second element, else a tuple) is handed out as it is, as the last element of what the
/// transform returns.
struct HasAux {};
/// The only value of HasAux.
inline constexpr HasAux has_aux;

namespace internal {

// The parts of what such a function returns.
template <class Out>
struct AuxParts {
  static constexpr bool kValid = false;
};
template <class Out, class Aux>
struct AuxParts<std::pair<Out, Aux>> {
  static constexpr bool kValid = true;
  static Out& value(std::pair<Out, Aux>& x) { return x.first; }
  static Aux aux(std::pair<Out, Aux>& x) { return std::move(x.second); }
};
template <class Out, class First, class... Rest>
struct AuxParts<std::tuple<Out, First, Rest...>> {
  static constexpr bool kValid = true;
  static Out& value(std::tuple<Out, First, Rest...>& x) { return std::get<0>(x); }
  static std::tuple<First, Rest...> aux(std::tuple<Out, First, Rest...>& x) {
    return std::apply(
        [](auto&, auto&... rest) { return std::tuple<First, Rest...>(std::move(rest)...); }, x);
  }
};

/// As check_run, and f returns what has_aux promises.
template <class F, class... Args>
constexpr bool check_run_with_aux() {
  if constexpr (check_run<F, Args...>()) {
    constexpr bool ok = AuxParts<CallResult<F, Args...>>::kValid;
    static_assert(
        ok,
        "spruce: with has_aux a function returns a pair or tuple: what is differentiated, "
        "and what is handed out beside it");
    return ok;
  } else {
    return false;
  }
}

// The function with a result that has the two parts, {value, aux}.
template <class F>
class SplitAux {
 public:
  explicit SplitAux(F f) : f_(std::move(f)) {}

  template <class... Args>
  requires std::is_invocable_v<const F&, const Args&...>
  auto operator()(const Args&... args) const {
    auto out = f_(args...);
    using Parts = AuxParts<decltype(out)>;
    static_assert(Parts::kValid,
                  "spruce: with has_aux a function returns a pair or tuple: what is "
                  "differentiated, and what is handed out beside it");
    if constexpr (Parts::kValid) {
      auto aux = Parts::aux(out);
      return std::pair{std::move(Parts::value(out)), std::move(aux)};
    }
  }

 private:
  F f_;
};

}  // namespace internal
}  // namespace spruce
