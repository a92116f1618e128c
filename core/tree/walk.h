// SPDX-License-Identifier: Apache-2.0
// What a tree is: how each C++ type is walked. Arrays, Keys and Buffers are leaves; numbers, enums,
// strings and function pointers are static; aggregate structs and the standard containers are inner
// nodes.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/random/key.h"
#include "spruce/core/tree/fields.h"

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

template <class T>
struct IsVector : std::false_type {};
template <class T, class A>
struct IsVector<std::vector<T, A>> : std::true_type {};
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

template <class T>
concept FunctionPointer = std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>;

template <class T>
concept Static = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> ||
    std::is_same_v<T, std::string_view> || std::is_same_v<T, const char*> ||
    std::is_same_v<T, Shape> || std::is_same_v<T, std::vector<bool>> ||
    std::is_same_v<T, std::monostate> || FunctionPointer<T>;

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

// Says once for each type that is no tree what is wrong with it and what to do.
template <class T>
struct IsTree {
  static constexpr bool kPointer = std::is_pointer_v<T> || std::is_member_pointer_v<T>;
  static constexpr fields::Obstacle kObstacle = std::is_array_v<T> ? fields::Obstacle::kCArray
                                                : kPointer         ? fields::Obstacle::kNone
                                                                   : fields::kObstacle<T>;

  static_assert(!kPointer,
                "spruce: a tree holds no pointers; hold the value itself, in std::optional if it "
                "may be missing");
  static_assert(kObstacle != fields::Obstacle::kCArray,
                "spruce: a tree holds no C arrays T[n]; write std::array<T, n>");
  static_assert(kObstacle != fields::Obstacle::kTooMany,
                "spruce: a struct in a tree has at most 32 fields; group some of them in a struct "
                "of their own");
  static_assert(kObstacle != fields::Obstacle::kBases,
                "spruce: the fields of a struct in a tree stand all in itself or all in one base "
                "class that is an aggregate; make the base class a field, or specialise "
                "spruce::TreeTraits");
  static_assert(kObstacle != fields::Obstacle::kNoAggregate,
                "spruce: a tree is made of Array, Key, Buffer, numbers, enums, strings, std "
                "containers and aggregate structs of these (no constructors, private fields or "
                "references); for another type specialise spruce::TreeTraits");
  static constexpr bool kFixed = has_fixed_fields<T>();
  // A reference has no default; a const field that has one may be read.
  static_assert(
      !kFixed || std::is_default_constructible_v<T>,
      "spruce: a struct in a tree holds no references and no const fields without a default; "
      "hold the value itself");

  static constexpr bool kValue = !kPointer && kObstacle == fields::Obstacle::kNone &&
                                 (!kFixed || std::is_default_constructible_v<T>);
};

// Says once that the leaves of a type cannot be replaced.
template <class T>
struct IsMutable {
  static constexpr bool kValue = IsTree<T>::kValue && !IsTree<T>::kFixed;
  static_assert(kValue || !IsTree<T>::kValue,
                "spruce: a const field with arrays cannot be given others; leave out the const");
};
template <class T>
struct IsMutable<const T> : IsTree<T> {};

template <class T>
std::string key_text(const T& key) {
  if constexpr (std::is_convertible_v<T, std::string>)
    return key;
  else
    return std::to_string(key);
}

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
      v.enter(text);
      walk(value, v);
      v.leave();
    }
  } else if constexpr (std::is_empty_v<S>) {
    // Function objects such as nn::relu: nothing to see.
  } else {
    if constexpr (IsMutable<T>::kValue) {
      fields::for_each(x, [&](std::string_view name, auto& field) {
        v.enter(name);
        walk(field, v);
        v.leave();
      });
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

template <class F>
struct LeafVisitor : Ignore {
  F& f;
  explicit LeafVisitor(F& g) : f(g) {}
  template <class A>
  void leaf(A& a, Leaf kind) {
    f(a, kind);
  }
};

template <class T, class F>
void for_each_leaf(T& x, F&& f) {
  LeafVisitor<std::remove_reference_t<F>> v(f);
  walk(x, v);
}

template <class T>
size_t count_leaves(const T& x) {
  size_t n = 0;
  for_each_leaf(x, [&](const Array&, Leaf) { ++n; });
  return n;
}

// Keeps the path to where the walk is.
struct PathKeeper {
  std::string path;
  std::vector<size_t> lengths;

  void key(std::string_view) {}
  void enter(std::string_view name) {
    lengths.push_back(path.size());
    if (!path.empty()) path += '.';
    path += name;
  }
  void enter(size_t i) {
    lengths.push_back(path.size());
    path += '[' + std::to_string(i) + ']';
  }
  void leave() {
    path.resize(lengths.back());
    lengths.pop_back();
  }
};

template <class S>
std::string static_text(const S& s) {
  if constexpr (std::is_same_v<S, bool>)
    return s ? "true" : "false";
  else if constexpr (std::is_arithmetic_v<S>) {
    std::string t = std::to_string(s);
    if constexpr (std::is_floating_point_v<S>) {
      while (t.size() > 1 && t.back() == '0' && t[t.size() - 2] != '.') t.pop_back();
    }
    return t;
  } else if constexpr (std::is_enum_v<S>)
    return std::to_string(static_cast<int64_t>(s));
  else if constexpr (std::is_same_v<S, Shape>)
    return to_string(s);
  else if constexpr (std::is_same_v<S, std::vector<bool>>) {
    std::string t;
    for (const bool b : s) t += b ? '1' : '0';
    return t;
  } else if constexpr (std::is_convertible_v<S, std::string_view>)
    return '"' + std::string(std::string_view(s)) + '"';
  else if constexpr (std::is_same_v<S, std::monostate>)
    return "none";
  else
    return "function";
}

// Appends the bytes that tell one static value from another.
template <class S>
void append_bytes(std::string& out, const S& s) {
  if constexpr (std::is_same_v<S, Shape>) {
    const int64_t rank = s.rank();
    out.append(reinterpret_cast<const char*>(&rank), sizeof rank);
    out.append(reinterpret_cast<const char*>(s.data()), s.size() * sizeof(int64_t));
  } else if constexpr (std::is_same_v<S, std::vector<bool>>) {
    append_bytes(out, static_text(s));
  } else if constexpr (std::is_convertible_v<S, std::string_view>) {
    const std::string_view text(s);
    const size_t n = text.size();
    out.append(reinterpret_cast<const char*>(&n), sizeof n);
    out.append(text);
  } else if constexpr (!std::is_same_v<S, std::monostate>) {
    out.append(reinterpret_cast<const char*>(&s), sizeof s);
  }
}

}  // namespace internal
}  // namespace tree
}  // namespace spruce
