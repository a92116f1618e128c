// SPDX-License-Identifier: Apache-2.0
// What a tree is: how each C++ type is walked. Arrays, Keys and Buffers are leaves; numbers, enums,
// strings and function pointers are static; aggregate structs and the standard containers are inner
// nodes.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/fields.h"
#include "spruce/core/random/key.h"
#include "spruce/core/tree/path.h"
#include "spruce/core/tree/static_text.h"

namespace spruce {

/// An array that belongs to a model but is no parameter: running statistics. It is saved and mapped
/// like any other leaf, and neither differentiated nor optimized.
struct Buffer {
  Array value;  ///< of any shape and dtype

  /// A buffer can stand where an array can.
  operator const Array&() const { return value; }
};

/// Makes a type that is no aggregate (or that hides its fields) a tree. Specialise it with
///   static constexpr bool kDefined = true;
///   template <class Self, class Visit> static void fields(Self& self, Visit&& visit) {
///   visit("weight", self.weight_); ... }
/// where Self may be const, and `visit` takes a name and a reference to a tree.
template <class T>
struct TreeTraits {
  static constexpr bool kDefined = false;  ///< true in specialisations
};

namespace tree {

/// What a leaf is.
enum class Leaf : uint8_t {
  kArray,   ///< an Array: differentiated and optimized where it is floating
  kBuffer,  ///< a Buffer: neither differentiated nor optimized
  kKey      ///< the data of a Key
};

namespace internal {

using spruce::internal::IsVector;

template <class T>
struct IsStdArray : std::false_type {};
template <class T, size_t N>
struct IsStdArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class T, class C, class A>
struct IsMap<std::map<K, T, C, A>> : std::true_type {};

// Whether a field is const or a reference to what is, so that no leaf of it can be replaced.
struct AnyFixed {
  template <class... F>
  constexpr auto operator()(F&...) const {
    return std::bool_constant<(
        (std::is_const_v<F> && !Static<std::remove_const_t<F>> && !std::is_empty_v<F>) || ...)>();
  }
};
template <class T>
constexpr bool has_fixed_fields() {
  if constexpr (std::is_class_v<T> && fields::kObstacle<T> == fields::Obstacle::kNone)
    return decltype(fields::apply(std::declval<T&>(), AnyFixed{}))::value;
  else
    return false;
}

template <class T>
concept SmartPointer = requires(const T& p) {
  typename T::element_type;
  p.get();
  *p;
};

// What the entries of a map may be named by.
template <class T>
concept NamesEntry = std::is_convertible_v<T, std::string> || StaticText<T> ||
    std::is_arithmetic_v<T> || std::is_enum_v<T>;

// Why a type is no tree.
enum class TreeFault : uint8_t {
  kNone,
  kPointer,
  kText,
  kVirtual,
  kCArray,
  kTooMany,
  kBases,
  kNoAggregate,
  kReference,  // or a const field without a default
  kKey,        // of a map
  kNotCopied
};

template <class Key>
inline constexpr TreeFault kKeyFault = NamesEntry<Key> ? TreeFault::kNone : TreeFault::kKey;

// The fault of a type that is none of those that `walk` knows by name, without that of its fields.
template <class T>
constexpr TreeFault tree_fault() {
  if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || SmartPointer<T>) {
    return TreeFault::kPointer;
  } else if constexpr (std::is_array_v<T>) {
    return std::is_same_v<std::remove_extent_t<T>, char> ? TreeFault::kText : TreeFault::kCArray;
  } else if constexpr (std::is_polymorphic_v<T>) {
    return TreeFault::kVirtual;
  } else {
    switch (fields::kObstacle<T>) {
      case fields::Obstacle::kCArray:
        return TreeFault::kCArray;
      case fields::Obstacle::kTooMany:
        return TreeFault::kTooMany;
      case fields::Obstacle::kBases:
        return TreeFault::kBases;
      case fields::Obstacle::kNoAggregate:
        return TreeFault::kNoAggregate;
      case fields::Obstacle::kNone:
        break;
    }
    // A reference has no default; a const field that has one may be read.
    return has_fixed_fields<T>() && !std::is_default_constructible_v<T> ? TreeFault::kReference
                                                                        : TreeFault::kNone;
  }
}

// False for a type with a fault; the compiler then prints, once, what to do.
template <class T, TreeFault fault>
constexpr bool check_fault() {
  static_assert(fault != TreeFault::kPointer,
                "spruce: a tree holds no pointers; hold the value itself, in std::optional if it "
                "may be missing");
  static_assert(fault != TreeFault::kText,
                "spruce: a string literal is no tree; write std::string(\"...\")");
  static_assert(fault != TreeFault::kVirtual,
                "spruce: a class with virtual functions is no tree; of an nn::Module take the "
                "parameters and the function of them that nn::functionalize gives");
  static_assert(fault != TreeFault::kCArray,
                "spruce: a tree holds no C arrays T[n]; write std::array<T, n>");
  static_assert(fault != TreeFault::kTooMany,
                "spruce: a struct in a tree has at most 32 fields; group some of them in a struct "
                "of their own");
  static_assert(fault != TreeFault::kBases,
                "spruce: the fields of a struct in a tree stand all in itself or all in one base "
                "class that is an aggregate; make the base class a field, or specialise "
                "spruce::TreeTraits");
  static_assert(fault != TreeFault::kNoAggregate,
                "spruce: a tree is made of Array, Key, Buffer, numbers, enums, strings, std "
                "containers and aggregate structs of these (no constructors, private fields or "
                "references); for another type specialise spruce::TreeTraits");
  static_assert(fault != TreeFault::kReference,
                "spruce: a tree holds no references, as std::tie makes them, and no const fields "
                "without a default; hold the value itself, as std::tuple{a, b} does");
  static_assert(fault != TreeFault::kKey,
                "spruce: the keys of a std::map in a tree are strings, numbers or enums");
  static_assert(fault != TreeFault::kNotCopied,
                "spruce: trees are copied, and a type in this one cannot be; hold in it what can");
  return fault == TreeFault::kNone;
}

// Says once that the leaves of a type cannot be replaced.
template <class T>
constexpr bool check_mutable() {
  if constexpr (!std::is_const_v<T>)
    static_assert(!has_fixed_fields<T>(),
                  "spruce: a const field with arrays cannot be given others; leave out the const");
  return std::is_const_v<T> || !has_fixed_fields<T>();
}

// What in a type is no tree, or cannot be copied: the first such part, with its fault.
template <class T, TreeFault fault>
struct Culprit {
  using Type = T;
  static constexpr TreeFault kFault = fault;
};
using NoCulprit = Culprit<void, TreeFault::kNone>;
template <class T, TreeFault fault, class Next>
constexpr auto operator||(Culprit<T, fault> first, Next next) {
  if constexpr (fault == TreeFault::kNone)
    return next;
  else
    return first;
}

template <class T, class... Within>
constexpr auto find_culprit();

template <class... Within>
struct CulpritInFields {
  template <class... F>
  constexpr auto operator()(F&...) const {
    return (NoCulprit() || ... || find_culprit<std::remove_const_t<F>, Within...>());
  }
};

// `Within` are the structs around T, which may hold themselves in a vector.
template <class T, class... Within>
constexpr auto find_culprit() {
  if constexpr ((std::is_same_v<T, Within> || ...) || std::is_same_v<T, Array> ||
                std::is_same_v<T, Buffer> || std::is_same_v<T, Key> || Static<T>) {
    return NoCulprit();
  } else if constexpr (TreeTraits<T>::kDefined || std::is_empty_v<T>) {
    return Culprit < T,
           std::is_copy_constructible_v<T> ? TreeFault::kNone : TreeFault::kNotCopied > ();
  } else if constexpr (IsVector<T>::value || IsStdArray<T>::value || IsOptional<T>::value) {
    return find_culprit<typename T::value_type, Within...>();
  } else if constexpr (IsMap<T>::value) {
    return Culprit<T, kKeyFault<typename T::key_type>>() ||
           find_culprit<typename T::mapped_type, Within...>();
  } else if constexpr (IsTuple<T>::value || IsVariant<T>::value) {
    return []<template <class...> class Of, class... Part>(std::type_identity<Of<Part...>>) {
      constexpr TreeFault fault =
          (std::is_reference_v<Part> || ...) ? TreeFault::kReference : TreeFault::kNone;
      return (Culprit<T, fault>() || ... || find_culprit<std::remove_cvref_t<Part>, Within...>());
    }(std::type_identity<T>());
  } else if constexpr (tree_fault<T>() == TreeFault::kNone) {
    return decltype(fields::apply(std::declval<T&>(), CulpritInFields<T, Within...>()))();
  } else {
    return Culprit<T, tree_fault<T>()>();
  }
}

// Whether a type is a tree that can be copied; where it is not, the compiler prints why.
template <class T>
constexpr bool check_tree() {
  using Found = decltype(find_culprit<T>());
  return check_fault<typename Found::Type, Found::kFault>();
}

template <class T>
std::string key_text(const T& key) {
  if constexpr (std::is_convertible_v<T, std::string>)
    return key;
  else if constexpr (std::is_same_v<T, bool>)
    return key ? "1" : "0";
  else if constexpr (check_fault<T, kKeyFault<T>>())
    return exact_text(key);
  else
    return {};
}

// Whether a value has no path below its own: a key that stands last may hold dots as it is.
template <class T>
struct EndsPath : std::bool_constant<std::is_same_v<T, Array> || std::is_same_v<T, Buffer> ||
                                     std::is_same_v<T, Key> || Static<T>> {};
template <class T>
struct EndsPath<std::optional<T>> : EndsPath<T> {};

// A visitor V has these functions:
//
// leaf(A& array, Leaf): A is Array or const Array; Keys are handed over as their data.
//
// fixed(const S&): S is Static.
//
// size(size_t): of a container; whether an optional holds something; the index of a variant.
//
// key(std::string_view): of an entry of a map; its name is static.
//
// enter(std::string_view), enter(size_t) and leave(): around a field or an element.
template <class T, class V>
void walk(T& x, V& v) {
  using S = std::remove_const_t<T>;
  if constexpr (std::is_same_v<S, Array>) {
    v.leaf(x, Leaf::kArray);
  } else if constexpr (std::is_same_v<S, Buffer>) {
    v.leaf(x.value, Leaf::kBuffer);
  } else if constexpr (std::is_same_v<S, Key>) {
    if constexpr (std::is_const_v<T>) {
      const Array& data = x.data();
      v.leaf(data, Leaf::kKey);
    } else {
      Array data = x.data();
      v.leaf(data, Leaf::kKey);
      x = Key::wrap(std::move(data));
    }
  } else if constexpr (Static<S>) {
    v.fixed(x);
  } else if constexpr (TreeTraits<S>::kDefined) {
    TreeTraits<S>::fields(x, [&](std::string_view name, auto& field) {
      v.key(name);
      v.enter(name);
      walk(field, v);
      v.leave();
    });
  } else if constexpr (IsVector<S>::value || IsStdArray<S>::value) {
    v.size(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      v.enter(i);
      walk(x[i], v);
      v.leave();
    }
  } else if constexpr (IsOptional<S>::value) {
    v.size(x.has_value() ? 1 : 0);
    if (x.has_value()) walk(*x, v);
  } else if constexpr (IsTuple<S>::value) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((v.enter(I), walk(std::get<I>(x), v), v.leave()), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<S>>{});
  } else if constexpr (IsVariant<S>::value) {
    v.size(x.index());
    std::visit([&](auto& held) { walk(held, v); }, x);
  } else if constexpr (IsMap<S>::value) {
    v.size(x.size());
    for (auto& [key, value] : x) {
      const std::string text = key_text(key);
      v.key(text);
      if (EndsPath<typename S::mapped_type>::value || text.find_first_of(".\\") == text.npos)
        v.enter(text);
      else
        v.enter(path_component(text));
      walk(value, v);
      v.leave();
    }
  } else if constexpr (std::is_empty_v<S>) {
    // Function objects such as nn::relu: nothing to see.
  } else {
    if constexpr (check_fault<S, tree_fault<S>()>()) {
      if constexpr (check_mutable<T>()) {
        fields::for_each(x, [&](std::string_view name, auto& field) {
          v.enter(name);
          walk(field, v);
          v.leave();
        });
      }
    }
  }
}

// What most visitors do with what they do not care for.
struct Ignore {
  template <class S>
  void fixed(const S&) {}
  void size(size_t) {}
  void key(std::string_view) {}
  void enter(std::string_view) {}
  void enter(size_t) {}
  void leave() {}
};

// One type for all functions of leaves, so that the walk over a tree is compiled once and not for
// each of them. A: Array or const Array.
template <class A>
struct LeafVisitor : Ignore {
  void* function;
  void (*call)(void* function, A& leaf, Leaf kind);
  bool keeps_text = false;  // puts copies that last in the places of texts that somebody else owns

  void leaf(A& a, Leaf kind) { call(function, a, kind); }
  template <class S>
  void fixed(S& s) {
    if constexpr (std::is_same_v<S, std::string_view>) {
      if (keeps_text) s = kept_text(s);
    } else if constexpr (std::is_same_v<S, const char*>) {
      if (keeps_text && s != nullptr) s = kept_text(s).data();
    }
  }
};
// A function or function object, const or not, as a plain pointer, and back.
template <class F>
void* address_of(F& f) {
  if constexpr (std::is_function_v<F>)
    return reinterpret_cast<void*>(&f);
  else
    return const_cast<void*>(static_cast<const void*>(&f));
}
template <class F>
F& function_at(void* address) {
  if constexpr (std::is_function_v<F>)
    return *reinterpret_cast<F*>(address);
  else
    return *static_cast<F*>(address);
}
template <class F, class A>
void call_leaf(void* f, A& leaf, Leaf kind) {
  function_at<F>(f)(leaf, kind);
}

template <class T, class F>
void for_each_leaf(T& x, F&& f) {
  using A = std::conditional_t<std::is_const_v<T>, const Array, Array>;
  LeafVisitor<A> v{{}, address_of(f), call_leaf<std::remove_reference_t<F>, A>};
  walk(x, v);
}

// Lambdas in a template are other types in each of its instances, for each of which a call is
// compiled; these are not.
struct AppendLeaf {
  std::vector<Array>& to;
  void operator()(const Array& a, Leaf) const { to.push_back(a); }
};
struct FillLeaf {
  std::span<const Array> leaves;
  size_t& at;
  void operator()(Array& a, Leaf) const { a = leaves[at++]; }
};

// Appends the leaves of trees.
template <class... T>
void gather_leaves(std::vector<Array>& to, const T&... x) {
  (for_each_leaf(x, AppendLeaf{to}), ...);
}
// Puts leaves[at] and those behind it in the places of the leaves of `x`, and moves `at` on.
template <class T>
void fill_leaves(T& x, std::span<const Array> leaves, size_t& at) {
  for_each_leaf(x, FillLeaf{leaves, at});
}

template <class T>
size_t count_leaves(const T& x) {
  size_t n = 0;
  for_each_leaf(x, [&](const Array&, Leaf) { ++n; });
  return n;
}

}  // namespace internal
}  // namespace tree
}  // namespace spruce
