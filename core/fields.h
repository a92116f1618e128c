// SPDX-License-Identifier: Apache-2.0
// The fields of an aggregate struct, counted, visited and named without a macro.
//
// The count is the largest n for which T{any, ..., any} is well-formed, less the base classes; a
// visit is a structured binding; a name is what the compiler prints for the address of a member of
// an object that is declared and never defined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "spruce/core/cxx20.h"

namespace spruce::fields {

/// The largest number of fields of a struct that can be visited.
inline constexpr size_t kMaxFields = 32;

/// Why the fields of a type cannot be visited.
enum class Obstacle : uint8_t {
  kNone,         ///< none: they can
  kNoAggregate,  ///< constructors, private fields or references
  kTooMany,      ///< more than kMaxFields
  kCArray,       ///< a field T[n]
  kBases,        ///< fields in several of the class and its bases, or a base that is no aggregate
};

namespace internal {

// Stands for any part of an aggregate: a base class or a field.
template <class Owner>
struct Any {
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Owner>) operator T() const noexcept {
    __builtin_unreachable();  // only asked whether it fits; clang wants a definition
  }
};

template <class T, class Owner>
concept BaseOf = std::is_base_of_v<T, Owner> && !std::is_same_v<T, Owner>;

// Stands for a base class of which `Test` holds. The type of a base class cannot be asked for;
// whether it takes this can.
template <class Owner, class Test>
struct AnyBase {
  template <BaseOf<Owner> T>
  requires(Test::template holds<T>()) operator T() const noexcept { __builtin_unreachable(); }
};

struct Exists {
  template <class T>
  static constexpr bool holds() {
    return true;
  }
};
struct HasFields {
  template <class T>
  static constexpr bool holds() {
    return !std::is_empty_v<T>;
  }
};
struct HasObstacle {
  template <class T>
  static constexpr bool holds();
};
template <size_t n>
struct HasCount {
  template <class T>
  static constexpr bool holds();
};

// The number of parts, n at most. A field that is a C array counts once for each element.
template <class T, size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Any<T>{})...}; };
}
template <class T, size_t n>
constexpr size_t count_down() {
  if constexpr (n == 0 || takes<T>(std::make_index_sequence<n>{}))
    return n;
  else
    return count_down<T, n - 1>();
}
template <class T, size_t low, size_t high>
constexpr size_t count_between() {
  constexpr size_t mid = (low + high) / 2;
  if constexpr (mid == low)
    return low;
  else if constexpr (takes<T>(std::make_index_sequence<mid>{}))
    return count_between<T, mid, high>();
  else
    return count_between<T, low, mid>();
}
// What has a default for each part takes fewer values as well, which leaves few numbers to try.
template <class T, size_t n>
constexpr size_t count_parts() {
  if constexpr (takes<T>(std::make_index_sequence<n>{}))
    return n;
  else if constexpr (takes<T>(std::make_index_sequence<0>{}))
    return count_between<T, 0, n>();
  else
    return count_down<T, n - 1>();
}

template <class T, class Test, size_t... Before, size_t... After>
constexpr bool is_base(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires {
    T{(static_cast<void>(Before), Any<T>{})..., AnyBase<T, Test>{},
      (static_cast<void>(After), Any<T>{})...};
  };
}
// True if the part at `place` is a base class of which Test holds.
template <class T, class Test, size_t place, size_t parts>
inline constexpr bool kIsBase = is_base<T, Test>(std::make_index_sequence<place>{},
                                                 std::make_index_sequence<parts - 1 - place>{});

template <class T, size_t parts, size_t n = 0>
constexpr size_t count_bases() {
  if constexpr (n == parts)
    return n;
  else if constexpr (kIsBase<T, Exists, n, parts>)
    return count_bases<T, parts, n + 1>();
  else
    return n;
}

// True if the part after `Before` takes several initialisers: a C array.
template <class T, size_t... Before, size_t... After>
constexpr bool is_c_array(std::index_sequence<Before...>, std::index_sequence<After...>) {
  if constexpr (
      requires {
        T{(static_cast<void>(Before), Any<T>{})..., {}, (static_cast<void>(After), Any<T>{})...};
      })
    return false;
  else
    return requires { T{(static_cast<void>(Before), Any<T>{})..., {}}; };
}

template <class T, size_t... I>
constexpr bool has_c_array(std::index_sequence<I...>) {
  constexpr size_t n = sizeof...(I);
  return (is_c_array<T>(std::make_index_sequence<I>{}, std::make_index_sequence<n - 1 - I>{}) ||
          ...);
}

template <class T, size_t parts, size_t... I>
constexpr size_t count_bases_with_fields(std::index_sequence<I...>) {
  return (size_t{kIsBase<T, HasFields, I, parts>} + ... + 0);
}

// The number of fields of the only base class that has any; kMaxFields + 1 where they cannot be
// visited.
template <class T, size_t bases, size_t place = 0, size_t n = 1>
constexpr size_t count_base_fields() {
  if constexpr (!kIsBase<T, HasFields, place, bases>)
    return count_base_fields<T, bases, place + 1>();
  else if constexpr (n > kMaxFields || kIsBase<T, HasObstacle, place, bases>)
    return kMaxFields + 1;
  else if constexpr (kIsBase<T, HasCount<n>, place, bases>)
    return n;
  else
    return count_base_fields<T, bases, place, n + 1>();
}

struct Layout {
  Obstacle obstacle = Obstacle::kNone;
  size_t fields = 0;  // where there is no obstacle
};

// A structured binding takes a class apart if all its fields stand in one class: in itself or in
// one of its bases.
template <class T>
constexpr Layout layout() {
  if constexpr (!std::is_class_v<T>) {
    return {Obstacle::kNoAggregate};
  } else if constexpr (std::is_empty_v<T>) {
    return {};
  } else if constexpr (!std::is_aggregate_v<T>) {
    return {Obstacle::kNoAggregate};
  } else {
    constexpr size_t some = count_parts<T, kMaxFields + 1>();
    constexpr size_t bases = count_bases<T, some>();
    constexpr size_t parts =
        bases > 0 && some > kMaxFields ? count_parts<T, bases + kMaxFields + 1>() : some;
    if constexpr (parts == 0) {
      return {Obstacle::kNoAggregate};
    } else if constexpr (parts > bases + kMaxFields) {
      return {Obstacle::kTooMany};
    } else if constexpr (has_c_array<T>(std::make_index_sequence<parts>{})) {
      return {Obstacle::kCArray};
    } else if constexpr (bases == 0) {
      return {Obstacle::kNone, parts};
    } else {
      constexpr size_t filled =
          count_bases_with_fields<T, parts>(std::make_index_sequence<bases>{});
      if constexpr (filled == 0) {
        return {Obstacle::kNone, parts - bases};
      } else if constexpr (filled == 1 && parts == bases) {
        constexpr size_t fields = count_base_fields<T, bases>();
        if constexpr (fields <= kMaxFields) return {Obstacle::kNone, fields};
      }
      return {Obstacle::kBases};
    }
  }
}

template <class T>
inline constexpr Layout kLayout = layout<T>();

template <class T>
constexpr bool HasObstacle::holds() {
  return kLayout<T>.obstacle != Obstacle::kNone;
}
template <size_t n>
template <class T>
constexpr bool HasCount<n>::holds() {
  return kLayout<T>.fields == n;
}

template <class T, class F>
constexpr decltype(auto) with_fields(T& object, F&& f) {
  constexpr size_t n = kLayout<std::remove_const_t<T>>.fields;
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

// One of several pointers: that behind as many others.
template <class Before>
struct Nth;
template <size_t... I>
struct Nth<std::index_sequence<I...>> {
  template <size_t>
  using Other = const volatile void*;
  template <class T, class... After>
  static constexpr T* of(Other<I>..., T* p, After*...) {
    return p;
  }
};

template <class T, size_t I>
constexpr std::string_view field_name() {
  // A template argument throughout: a variable would refer to `fake` when nothing is optimised.
  constexpr std::string_view name =
      last_word(pretty<Pointer{with_fields(fake<T>.value, [](auto&... field) {
        return Nth<std::make_index_sequence<I>>::of(&field...);
      })}>());
  return name;
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace internal

/// The number of fields of T where they can be visited.
template <class T>
inline constexpr size_t kCount = internal::kLayout<T>.fields;

/// What keeps for_each from visiting the fields of T: nothing for an aggregate struct whose fields
/// all stand in itself or all in one base class.
template <class T>
inline constexpr Obstacle kObstacle = internal::kLayout<T>.obstacle;

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

/// `f(field...)` with all fields of `object`.
template <class T, class F>
constexpr decltype(auto) apply(T& object, F&& f) {
  return internal::with_fields(object, std::forward<F>(f));
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
