// SPDX-License-Identifier: Apache-2.0
// vjp and linearize: a function's value, and its derivative there as a linear function.
#pragma once

#include <memory>

#include "spruce/transforms/derive/grad.h"

namespace spruce {
namespace internal {

template <class Out, class... Args>
class Pullback {
 public:
  Pullback(std::shared_ptr<const Linearizer> lin, Out like, std::tuple<Args...> args)
      : lin_(std::move(lin)), like_(std::move(like)), args_(std::move(args)) {}
  /// What is moved is copied, so that both can be called.
  Pullback(const Pullback&) = default;
  Pullback& operator=(const Pullback&) = default;  ///< The same.

  /// The cotangents of the arguments from that of the result: one tree for one argument, else a
  /// tuple. May be called often.
  auto operator()(const Out& ct, Loc loc = Loc::current()) const {
    const LocScope place(loc);
    const std::vector<Array> cts = tree::leaves(ct);
    if (cts.size() != lin_->out_avals().size())
      tree::internal::check_same("vjp", tree::structure(like_), tree::structure(ct));
    const std::vector<Array> in = lin_->pull_back(cts, "vjp");
    std::tuple<Args...> grads = args_;
    size_t at = 0;
    std::apply([&](auto&... g) { (fill_leaves(g, in, at), ...); }, grads);
    if constexpr (sizeof...(Args) == 1)
      return std::get<0>(std::move(grads));
    else
      return grads;
  }

 private:
  std::shared_ptr<const Linearizer> lin_;
  Out like_;
  std::tuple<Args...> args_;
};

template <class Out, class... Args>
class Pushforward {
 public:
  Pushforward(std::shared_ptr<const Linearizer> lin, Out like)
      : lin_(std::move(lin)), like_(std::move(like)) {}
  /// What is moved is copied, so that both can be called.
  Pushforward(const Pushforward&) = default;
  Pushforward& operator=(const Pushforward&) = default;  ///< The same.

  /// The tangent of the result from those of the arguments. May be called often.
  Out operator()(const Args&... tangents, Loc loc = Loc::current()) const {
    const LocScope place(loc);
    std::vector<Array> in;
    tree::internal::gather_leaves(in, tangents...);
    const std::vector<Array> out = lin_->push_forward(in, "linearize");
    Out result = like_;
    size_t at = 0;
    fill_leaves(result, out, at);
    return result;
  }

 private:
  std::shared_ptr<const Linearizer> lin_;
  Out like_;
};

template <class Args, size_t... I>
void check_marked(const char* op, const Linearizer& lin, const Args& args,
                  std::index_sequence<I...>) {
  lin.check_marked<I...>(op, args);
}

/// f can be differentiated at these arguments; with Aux = HasAux it returns {out, aux}.
template <class Aux, class F, class... Args>
constexpr bool check_point() {
  constexpr bool ok = sizeof...(Args) > 0;
  static_assert(ok,
                "spruce: vjp and linearize take the arguments with the function: vjp(f, x) and "
                "linearize(f, x)");
  if constexpr (ok) {
    if constexpr (check_arrays<Args...>()) {
      if constexpr (std::is_same_v<Aux, HasAux>)
        return check_run_with_aux<F, Args...>();
      else
        return check_run<F, Args...>();
    }
  }
  return false;
}

// With Aux = HasAux, f returns {out, aux}, of which only the first is differentiated.
template <class Aux = void, class F, class... Args>
auto linearized(const char* op, const F& f, const Args&... args) {
  auto lin = std::make_shared<Linearizer>(op);
  std::tuple<Args...> traced(args...);
  std::apply([&](auto&... a) { (lin->mark_tree(a), ...); }, traced);
  check_marked(op, *lin, traced, std::index_sequence_for<Args...>{});
  auto out = apply_under(lin->interpreter(), op, f, traced);
  if constexpr (std::is_same_v<Aux, HasAux>) {
    lin->finish_tree(out.first);
    lin->strip(out.second);
  } else {
    lin->finish_tree(out);
  }
  return std::pair{std::move(out), std::shared_ptr<const Linearizer>(std::move(lin))};
}

template <class F, class... Args>
auto vjp_at(Loc loc, const F& f, const Args&... args) {
  const LocScope place(loc);
  if constexpr (check_point<void, F, Args...>()) {
    auto [out, lin] = linearized("vjp", f, args...);
    using Out = decltype(out);
    Pullback<Out, Args...> pullback(std::move(lin), out, std::tuple<Args...>(args...));
    return std::pair{std::move(out), std::move(pullback)};
  } else {
    return refused<std::pair<Array, Pullback<Array, Array>>>();
  }
}
template <class F, class... Args>
auto vjp_with_aux(Loc loc, const F& f, const Args&... args) {
  const LocScope place(loc);
  if constexpr (check_point<HasAux, F, Args...>()) {
    auto [both, lin] = linearized<HasAux>("vjp", SplitAux<std::decay_t<F>>(f), args...);
    using Out = std::decay_t<decltype(both.first)>;
    Pullback<Out, Args...> pullback(std::move(lin), both.first, std::tuple<Args...>(args...));
    return std::tuple{std::move(both.first), std::move(pullback), std::move(both.second)};
  } else {
    return refused<std::tuple<Array, Pullback<Array, Array>, Array>>();
  }
}

template <class F, class... Args>
auto linearize_at(Loc loc, const F& f, const Args&... args) {
  const LocScope place(loc);
  if constexpr (check_point<void, F, Args...>()) {
    auto [out, lin] = linearized("linearize", f, args...);
    using Out = decltype(out);
    Pushforward<Out, Args...> push(std::move(lin), out);
    return std::pair{std::move(out), std::move(push)};
  } else {
    return refused<std::pair<Array, Pushforward<Array, Array>>>();
  }
}
template <class F, class... Args>
auto linearize_with_aux(Loc loc, const F& f, const Args&... args) {
  const LocScope place(loc);
  if constexpr (check_point<HasAux, F, Args...>()) {
    auto [both, lin] = linearized<HasAux>("linearize", SplitAux<std::decay_t<F>>(f), args...);
    using Out = std::decay_t<decltype(both.first)>;
    Pushforward<Out, Args...> push(std::move(lin), both.first);
    return std::tuple{std::move(both.first), std::move(push), std::move(both.second)};
  } else {
    return refused<std::tuple<Array, Pushforward<Array, Array>, Array>>();
  }
}

}  // namespace internal

/// {f(args...), pullback}: the pullback takes a cotangent of the result's type to those of the
/// arguments (of one argument as it is, of several as a tuple). Throws as grad, except that the
/// result may be any tree. With more than three arguments, errors do not name the user's line, for
/// which there is no place behind a pack.
template <class F, class... Args>
auto vjp(const F& f, const Args&... args) {
  return internal::vjp_at(Loc::none(), f, args...);
}
template <class F, class A>
auto vjp(const F& f, const A& a, Loc loc = Loc::current()) {
  return internal::vjp_at(loc, f, a);
}
template <class F, class A, class B>
auto vjp(const F& f, const A& a, const B& b, Loc loc = Loc::current()) {
  return internal::vjp_at(loc, f, a, b);
}
template <class F, class A, class B, class C>
auto vjp(const F& f, const A& a, const B& b, const C& c, Loc loc = Loc::current()) {
  return internal::vjp_at(loc, f, a, b, c);
}

/// {out, pullback, aux} of a function that returns {out, aux}: the pullback is that of out alone.
template <class F, class... Args>
auto vjp(const F& f, HasAux, const Args&... args) {
  return internal::vjp_with_aux(Loc::none(), f, args...);
}
template <class F, class A>
auto vjp(const F& f, HasAux, const A& a, Loc loc = Loc::current()) {
  return internal::vjp_with_aux(loc, f, a);
}
template <class F, class A, class B>
auto vjp(const F& f, HasAux, const A& a, const B& b, Loc loc = Loc::current()) {
  return internal::vjp_with_aux(loc, f, a, b);
}

/// {f(args...), f_jvp}: f_jvp(tangents...) is the derivative there; the function itself is not run
/// again. Lines in errors as those of vjp.
template <class F, class... Args>
auto linearize(const F& f, const Args&... args) {
  return internal::linearize_at(Loc::none(), f, args...);
}
template <class F, class A>
auto linearize(const F& f, const A& a, Loc loc = Loc::current()) {
  return internal::linearize_at(loc, f, a);
}
template <class F, class A, class B>
auto linearize(const F& f, const A& a, const B& b, Loc loc = Loc::current()) {
  return internal::linearize_at(loc, f, a, b);
}
template <class F, class A, class B, class C>
auto linearize(const F& f, const A& a, const B& b, const C& c, Loc loc = Loc::current()) {
  return internal::linearize_at(loc, f, a, b, c);
}

/// {out, f_jvp, aux} of a function that returns {out, aux}.
template <class F, class... Args>
auto linearize(const F& f, HasAux, const Args&... args) {
  return internal::linearize_with_aux(Loc::none(), f, args...);
}
template <class F, class A>
auto linearize(const F& f, HasAux, const A& a, Loc loc = Loc::current()) {
  return internal::linearize_with_aux(loc, f, a);
}
template <class F, class A, class B>
auto linearize(const F& f, HasAux, const A& a, const B& b, Loc loc = Loc::current()) {
  return internal::linearize_with_aux(loc, f, a, b);
}

}  // namespace spruce
