// SPDX-License-Identifier: Apache-2.0
// The fields of an aggregate struct, counted, visited and named without a macro.
//
// The count is the largest n for which T{any, ..., any} is well-formed; a visit is a structured
// binding; a name is what the compiler prints for the address of a member of an object that is
// declared and never defined.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace spruce::fields {

/// The largest number of fields of a struct that can be visited.
inline constexpr size_t kMaxFields = 32;

namespace internal {

template <class Owner>
struct Any {
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Owner> &&
           !std::is_base_of_v<std::remove_cvref_t<T>, Owner>)
  operator T() const noexcept;
};
template <class Owner>
struct AnyBase {  // also stands for a base class: tells a struct with a base from one without
  template <class T>
  requires(std::is_base_of_v<std::remove_cvref_t<T>, Owner> &&
           !std::is_same_v<std::remove_cvref_t<T>, Owner>)
  operator T() const noexcept;
};

template <class T, size_t... I>
constexpr bool initialisable(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Any<T>{})...}; };
}

template <class T, size_t N = kMaxFields + 1>
constexpr size_t count() {
  if constexpr (initialisable<T>(std::make_index_sequence<N>{}))
    return N;
  else if constexpr (N == 0)
    return 0;
  else
    return count<T, N - 1>();
}

template <class T>
constexpr bool has_base() {
  return requires { T{AnyBase<T>{}}; };
}

template <class T, class F>
constexpr decltype(auto) with_fields(T& object, F&& f) {
  constexpr size_t n = count<std::remove_const_t<T>>();
  if constexpr (n == 0) {
    return f();
  } else if constexpr (n == 1) {
    auto& [f0] = object;
    return f(f0);
  } else if constexpr (n == 2) {
    auto& [f0, f1] = object;
    return f(f0, f1);
  } else if constexpr (n == 3) {
    auto& [f0, f1, f2] = object;
    return f(f0, f1, f2);
  } else if constexpr (n == 4) {
    auto& [f0, f1, f2, f3] = object;
    return f(f0, f1, f2, f3);
  } else if constexpr (n == 5) {
    auto& [f0, f1, f2, f3, f4] = object;
    return f(f0, f1, f2, f3, f4);
  } else if constexpr (n == 6) {
    auto& [f0, f1, f2, f3, f4, f5] = object;
    return f(f0, f1, f2, f3, f4, f5);
  } else if constexpr (n == 7) {
    auto& [f0, f1, f2, f3, f4, f5, f6] = object;
    return f(f0, f1, f2, f3, f4, f5, f6);
  } else if constexpr (n == 8) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7);
  } else if constexpr (n == 9) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8);
  } else if constexpr (n == 10) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9);
  } else if constexpr (n == 11) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10);
  } else if constexpr (n == 12) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11);
  } else if constexpr (n == 13) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12);
  } else if constexpr (n == 14) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13);
  } else if constexpr (n == 15) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14);
  } else if constexpr (n == 16) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15);
  } else if constexpr (n == 17) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16);
  } else if constexpr (n == 18) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17);
  } else if constexpr (n == 19) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18] =
        object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18);
  } else if constexpr (n == 20) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
           f19] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19);
  } else if constexpr (n == 21) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20);
  } else if constexpr (n == 22) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21);
  } else if constexpr (n == 23) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22);
  } else if constexpr (n == 24) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23);
  } else if constexpr (n == 25) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23, f24] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23, f24);
  } else if constexpr (n == 26) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23, f24, f25] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23, f24, f25);
  } else if constexpr (n == 27) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23, f24, f25, f26] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23, f24, f25, f26);
  } else if constexpr (n == 28) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23, f24, f25, f26, f27] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23, f24, f25, f26, f27);
  } else if constexpr (n == 29) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23, f24, f25, f26, f27, f28] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23, f24, f25, f26, f27, f28);
  } else if constexpr (n == 30) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23, f24, f25, f26, f27, f28, f29] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29);
  } else if constexpr (n == 31) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30);
  } else if constexpr (n == 32) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
           f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31] = object;
    return f(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
             f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31);
  }
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class T>
struct Holder {
  T value;
};
template <class T>
extern const Holder<T> fake;  // never defined: only the names of its members are looked at

template <class P>
struct Pointer {
  P p;
};
template <class P>
Pointer(P) -> Pointer<P>;

// Returns a plain pointer: g++ would spell out what a string_view is behind the name.
template <auto P>
constexpr const char* pretty() {
  return __PRETTY_FUNCTION__;
}

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::string_view last_word(std::string_view s) {
  while (!s.empty() && !is_word(s.back())) s.remove_suffix(1);
  size_t at = s.size();
  while (at > 0 && is_word(s[at - 1])) --at;
  return s.substr(at);
}

template <class T, size_t I>
constexpr std::string_view field_name() {
  // A template argument throughout: a variable would refer to `fake` when nothing is optimised.
  constexpr std::string_view name =
      last_word(pretty<Pointer{with_fields(fake<T>.value, [](auto&... field) {
        return std::get<I>(std::tuple{&field...});
      })}>());
  return name;
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace internal

/// The number of fields of T, a struct without base classes; kMaxFields + 1 if there are more than
/// can be visited.
template <class T>
inline constexpr size_t kCount = internal::count<T>();

/// True for an aggregate struct whose fields for_each can visit.
template <class T>
constexpr bool is_visitable() {
  if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) {
    if constexpr (std::is_empty_v<T>)
      return true;
    else
      return !internal::has_base<T>() && kCount<T> <= kMaxFields && kCount<T> > 0;
  } else {
    return false;
  }
}

/// The name of field I of T: fields::name<Linear, 0>() is "weight".
template <class T, size_t I>
constexpr std::string_view name() {
  return internal::field_name<T, I>();
}

/// Calls `f(name, field)` for each field of `object` in the order of declaration.
template <class T, class F>
constexpr void for_each(T& object, F&& f) {
  using S = std::remove_const_t<T>;
  if constexpr (!std::is_empty_v<S>) {
    internal::with_fields(object, [&](auto&... field) {
      [&]<size_t... I>(std::index_sequence<I...>) { (f(name<S, I>(), field), ...); }
      (std::make_index_sequence<sizeof...(field)>{});
    });
  }
}

/// Calls `f(field of a, field of b)` pairwise for two objects of one type.
template <class A, class B, class F>
constexpr void for_each_pair(A& a, B& b, F&& f) {
  if constexpr (!std::is_empty_v<std::remove_const_t<A>>) {
    internal::with_fields(
        a, [&](auto&... x) { internal::with_fields(b, [&](auto&... y) { (f(x, y), ...); }); });
  }
}

}  // namespace spruce::fields
