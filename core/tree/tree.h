// SPDX-License-Identifier: Apache-2.0
// Trees of arrays: any aggregate struct, container or mix of them. Functions here take trees and
// return trees of the same C++ type.
#pragma once

#include <functional>
#include <iosfwd>

#include "spruce/core/callable.h"
#include "spruce/core/tree/checks.h"
#include "spruce/core/tree/observer.h"
#include "spruce/core/tree/walk.h"

namespace spruce::tree {

namespace internal {
class StructureObserver;
}

/// A leaf of a tree with the way to it: "blocks.1.down.bias": the names of fields, the places in
/// vectors, arrays and tuples from 0, and the keys of maps, with dots between them. In a key that
/// is followed by more, a dot is written "\." and a backslash "\\".
struct Entry {
  std::string path;          ///< from the root; "" for a tree that is a leaf
  Array value;               ///< the leaf; shares its memory, undefined for an undefined leaf
  Leaf kind = Leaf::kArray;  ///< for a key the value is its data, u32[...,2]
};

/// The form of a tree: the paths of its leaves, the static values, which optionals are filled, how
/// long containers are; not the shapes or dtypes of its arrays. Compares with ==, static values by
/// all their bits.
class Structure {
 public:
  /// One line for each leaf and static value: "hidden.weight: *", "drop.p: 0.25". A floating
  /// number is the shortest text that gives it back.
  std::string text() const;
  /// Number of leaves, undefined arrays among them.
  size_t leaf_count() const { return leaves_; }
  friend bool operator==(const Structure& a, const Structure& b) { return a.lines_ == b.lines_; }
  /// How `other` differs from this, by path: "at hidden.bias: a leaf in the first, nothing in the
  /// second". Empty if equal.
  std::string difference(const Structure& other) const;

 private:
  friend class internal::StructureObserver;
  struct Line {
    std::string path, value;
    uintptr_t function = 0;  // what a function pointer points to
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::vector<Line> lines_;
  size_t leaves_ = 0;
};

/// Prints text().
std::ostream& operator<<(std::ostream& out, const Structure& structure);

namespace internal {

class StructureObserver final : public PathObserver {
 public:
  Structure form;
  void leaf(const Array&, Leaf kind) override;
  void static_value(const StaticValue& value) override;
  void size(size_t n) override;
};

class EntryObserver final : public PathObserver {
 public:
  std::vector<Entry> entries;
  void leaf(const Array& a, Leaf kind) override { entries.push_back({path(), a, kind}); }
};

/// Throws TreeError naming the operation and the first difference.
void check_same(const char* op, const Structure& a, const Structure& b);
/// Throws ValueError naming the operation and the path if leaf `i` is an undefined array.
void check_defined(const char* op, Loc loc, const std::vector<Entry>& entries, size_t i);
[[noreturn]] void throw_leaf_count(const char* op, size_t expected, size_t got);
/// The number of the leaf with that path, written in any of the ways that loose_path() knows.
/// Throws TreeError if there is none.
size_t find_path(const std::vector<Entry>& entries, const std::string& path);
std::string print(const std::vector<Entry>& entries);
bool leaves_equal(const std::vector<Array>& a, const std::vector<Array>& b);

}  // namespace internal

/// The form of `x`.
template <class T>
Structure structure(const T& x) {
  internal::StructureObserver o;
  internal::walk(x, o.any());
  return std::move(o.form);
}

/// The leaves in order: fields as declared, containers front to back, maps by key. Keys as their
/// u32[..., 2] data.
template <class T>
std::vector<Array> leaves(const T& x) {
  std::vector<Array> out;
  // As gather_leaves: a call less in the errors of compilers.
  internal::for_each_leaf(x, internal::AppendLeaf{out});
  return out;
}

/// The leaves with paths and kinds.
template <class T>
std::vector<Entry> entries(const T& x) {
  internal::EntryObserver o;
  internal::walk(x, o.any());
  return std::move(o.entries);
}

/// leaves() and structure() together.
template <class T>
std::pair<std::vector<Array>, Structure> flatten(const T& x) {
  return {leaves(x), structure(x)};
}

/// A tree like `like` with `leaves` in the places of its leaves. Throws TreeError if their number
/// differs.
template <class T>
T unflatten(const T& like, std::span<const Array> leaves, Loc loc = Loc::current()) {
  const LocScope at(loc);
  if constexpr (internal::check_tree<T>()) {
    T out = like;
    const size_t n = internal::count_leaves(like);
    if (n != leaves.size()) internal::throw_leaf_count("tree::unflatten", n, leaves.size());
    size_t next = 0;
    internal::fill_leaves(out, leaves, next);
    return out;
  } else {
    return spruce::internal::refused<T>();
  }
}

namespace internal {

// What tells the forms of two trees of one type apart: a number for names of entries, lengths of
// containers and filled optionals.
struct Form {
  size_t number = 0, leaves = 0;
  friend bool operator==(const Form&, const Form&) = default;
};
class FormObserver final : public Observer {
 public:
  Form form;
  void leaf(const Array&, Leaf) override {
    mix(0);
    ++form.leaves;
  }
  void size(size_t n) override { mix(n); }
  void key(std::string_view name) override { mix(std::hash<std::string_view>()(name)); }

 private:
  void mix(size_t n) { form.number = form.number * 1099511628211u + n + 1; }
};

// A tree of any type, for what is compiled once.
struct AnyTree {
  struct Functions {
    std::vector<Array> (*leaves)(const void* tree);
    Structure (*structure)(const void* tree);
    std::vector<Entry> (*entries)(const void* tree);
    Form (*form)(const void* tree);
  };
  const void* tree;
  const Functions* functions;

  std::vector<Array> leaves() const { return functions->leaves(tree); }
  Structure structure() const { return functions->structure(tree); }
  std::vector<Entry> entries() const { return functions->entries(tree); }
  Form form() const { return functions->form(tree); }
};
template <class T>
struct OfTree {
  static std::vector<Array> leaves(const void* x) {
    return tree::leaves(*static_cast<const T*>(x));
  }
  static Structure structure(const void* x) { return tree::structure(*static_cast<const T*>(x)); }
  static std::vector<Entry> entries(const void* x) {
    return tree::entries(*static_cast<const T*>(x));
  }
  static Form form(const void* x) {
    FormObserver o;
    walk(*static_cast<const T*>(x), o.any());
    return o.form;
  }
  static constexpr AnyTree::Functions kFunctions{leaves, structure, entries, form};
};
template <class T>
AnyTree any_tree(const T& x) {
  return {&x, &OfTree<T>::kFunctions};
}
// The same with leaves that can be replaced.
struct AnyMutableTree {
  void* tree;
  void (*visit)(void* tree, LeafVisitor<Array>& visitor);
};
template <class T>
void visit_leaves(void* x, LeafVisitor<Array>& v) {
  walk(*static_cast<T*>(x), v);
}

// A function of leaves: call(function, leaf, others, i) gives it the leaves i of others, too.
struct LeafFunction {
  void* function;
  Array (*call)(void* function, const Array& leaf, const std::vector<Array>* others, size_t i);
};
template <class F, class... Rest>
struct CallLeafFunction {
  static Array call(void* f, const Array& leaf, const std::vector<Array>* others, size_t i) {
    return at(f, leaf, others, i, std::index_sequence_for<Rest...>());
  }
  template <size_t... K>
  static Array at(void* f, const Array& leaf, [[maybe_unused]] const std::vector<Array>* others,
                  [[maybe_unused]] size_t i, std::index_sequence<K...>) {
    return function_at<F>(f)(leaf, others[K][i]...);
  }
};

// Puts f(leaf, leaves at the same places of rest) in place of the leaves of `out`, a copy of `x`,
// that `select` chooses.
struct MapSelected {
  const char* op;
  Loc loc;  // the place of the operation
  bool (*select)(Leaf kind, const Array& leaf);

  void operator()(LeafFunction f, AnyMutableTree out, AnyTree x,
                  std::span<const AnyTree> rest) const;
};

// f(leaf, leaves at the same places of rest...) in place of leaves of `x`, as `map` does it.
template <class Map, class F, class T, class... Rest>
T map_leaves(const Map& map, F&& f, const T& x, const Rest&... rest) {
  using Function = std::remove_reference_t<F>;
  const FunctionScope within(map.loc);
  if constexpr (!check_map<Function, Array, ArrayFor<Rest>...>() || !check_tree<T>()) {
    return spruce::internal::refused<T>();
  } else {
    T out = x;
    const std::array<AnyTree, sizeof...(Rest)> others{any_tree(rest)...};
    map({address_of(f), CallLeafFunction<Function, Rest...>::call}, {&out, visit_leaves<T>},
        any_tree(x), others);
    return out;
  }
}

inline bool is_no_key(Leaf kind, const Array&) { return kind != Leaf::kKey; }

}  // namespace internal

/// f applied to each leaf of `x`, and to the leaves at the same places of the other trees. The
/// result has the type and the static fields of `x`; keys are left as they are. The other trees may
/// have another C++ type with the same form, such as an optimizer's moments. Throws TreeError where
/// forms differ; with more than three trees without the user's line, for which there is no place
/// behind a pack.
template <class F, class T, class... Rest>
auto map(F&& f, const T& x, const Rest&... rest) {
  return internal::map_leaves(internal::MapSelected{"tree::map", Loc::none(), internal::is_no_key},
                              f, x, rest...);
}
template <class F, class T>
auto map(F&& f, const T& x, Loc loc = Loc::current()) {
  return internal::map_leaves(internal::MapSelected{"tree::map", loc, internal::is_no_key}, f, x);
}
template <class F, class T, class U>
auto map(F&& f, const T& x, const U& y, Loc loc = Loc::current()) {
  return internal::map_leaves(internal::MapSelected{"tree::map", loc, internal::is_no_key}, f, x,
                              y);
}
template <class F, class T, class U, class V>
auto map(F&& f, const T& x, const U& y, const V& z, Loc loc = Loc::current()) {
  return internal::map_leaves(internal::MapSelected{"tree::map", loc, internal::is_no_key}, f, x, y,
                              z);
}

/// map with the path of each leaf as first argument: f("hidden.weight", a).
template <class F, class T>
auto map_with_path(F&& f, const T& x, Loc loc = Loc::current()) {
  const FunctionScope within(loc);
  if constexpr (internal::check_map_with_path<std::remove_reference_t<F>>() &&
                internal::check_tree<T>()) {
    const std::vector<Entry> all = entries(x);
    T out = x;
    size_t i = 0;
    internal::for_each_leaf(out, [&](Array& a, Leaf kind) {
      if (kind != Leaf::kKey) a = f(all[i].path, std::as_const(a));
      ++i;
    });
    return out;
  } else {
    return spruce::internal::refused<T>();
  }
}

/// f(f(f(init, leaf), leaf), ...) over the leaves in order, keys left out. The result has the type
/// that f(init, leaf) has: reduce(add, 0.0f, x) is an Array.
template <class F, class R, class T>
auto reduce(F&& f, R init, const T& x) {
  if constexpr (internal::check_reduce<std::remove_reference_t<F>, R>()) {
    std::decay_t<std::invoke_result_t<F&, R, const Array&>> total(std::move(init));
    internal::for_each_leaf(x, [&](const Array& a, Leaf kind) {
      if (kind != Leaf::kKey) total = f(std::move(total), a);
    });
    return total;
  } else {
    return init;
  }
}

/// The leaves of several trees of one form side by side: one entry a leaf. Throws TreeError where
/// forms differ.
template <class T, class... Rest>
std::vector<std::array<Array, 1 + sizeof...(Rest)>> zip(const T& x, const Rest&... rest) {
  const Structure s = structure(x);
  (internal::check_same("tree::zip", s, structure(rest)), ...);
  const std::array<std::vector<Array>, 1 + sizeof...(Rest)> all{leaves(x), leaves(rest)...};
  std::vector<std::array<Array, 1 + sizeof...(Rest)>> out(all[0].size());
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t k = 0; k < all.size(); ++k) out[i][k] = all[k][i];
  }
  return out;
}

/// Two trees like `x`: one holds the leaves for which `predicate(path, leaf)` is true and undefined
/// arrays elsewhere, the other the rest. combine() puts them together.
template <class P, class T>
auto partition(P&& predicate, const T& x) {
  if constexpr (internal::check_predicate<std::remove_reference_t<P>>() &&
                internal::check_tree<T>()) {
    const std::vector<Entry> all = entries(x);
    std::pair<T, T> out{x, x};
    size_t i = 0;
    internal::for_each_leaf(out.first, [&](Array& a, Leaf) {
      if (!predicate(all[i].path, all[i].value)) a = Array();
      ++i;
    });
    i = 0;
    internal::for_each_leaf(out.second, [&](Array& a, Leaf) {
      if (predicate(all[i].path, all[i].value)) a = Array();
      ++i;
    });
    return out;
  } else {
    return spruce::internal::refused<std::pair<T, T>>();
  }
}

/// For each leaf that of `a` where it is defined, else that of `b`.
template <class T>
T combine(const T& a, const T& b, Loc loc = Loc::current()) {
  const LocScope at(loc);
  T out = a;
  const std::vector<Array> other = leaves(b);
  if (other.size() != internal::count_leaves(a))
    internal::check_same("tree::combine", structure(a), structure(b));
  size_t i = 0;
  internal::for_each_leaf(out, [&](Array& leaf, Leaf) {
    if (!leaf.defined()) leaf = other[i];
    ++i;
  });
  return out;
}

namespace internal {

// A copy of a tree, and a place in it.
template <class T, class Where>
class At {
 public:
  At(T x, Where where) : x_(std::move(x)), where_(std::move(where)) {}
  /// A copy of the tree with `value` in that place.
  template <class V>
  auto set(V&& value) const {
    T out = x_;
    using Place = decltype(where_(out));
    if constexpr (check_place<Place>()) {
      if constexpr (check_part<Place, V>()) where_(out) = std::forward<V>(value);
    }
    return out;
  }
  /// A copy of the tree with f(what stands there) in that place.
  template <class F>
  auto apply(F&& f) const {
    T out = x_;
    using Place = decltype(where_(out));
    if constexpr (check_place<Place>()) {
      using Function = std::remove_reference_t<F>;
      using Part = std::remove_reference_t<Place>;
      if constexpr (!std::is_invocable_v<Function&, const Part&>) {
        (void)spruce::internal::check_call<Function, Part>();
      } else if constexpr (check_part<Place, std::invoke_result_t<Function&, const Part&>>()) {
        Part& place = where_(out);
        place = f(std::as_const(place));
      }
    }
    return out;
  }

 private:
  T x_;
  Where where_;
};

template <class T>
class AtPath {
 public:
  AtPath(T x, std::string path, Loc loc) : x_(std::move(x)), path_(std::move(path)), loc_(loc) {}
  T set(const Array& value) const {
    return apply([&](const Array&) { return value; });
  }
  template <class F>
  T apply(F&& f) const {
    const FunctionScope within(loc_);
    const size_t place = find();
    T out = x_;
    size_t i = 0;
    for_each_leaf(out, [&](Array& a, Leaf) {
      if (i++ == place) a = f(std::as_const(a));
    });
    return out;
  }

 private:
  size_t find() const {
    const LocScope at(loc_);
    return find_path(entries(x_), path_);
  }

  T x_;
  std::string path_;
  Loc loc_;
};

}  // namespace internal

/// One part of a tree, to be replaced in a copy: tree::at(model, [](auto& m) -> auto& { return
/// m.out.bias; }).set(b). It keeps the tree as it is now.
template <class T, class Where>
requires(!std::is_convertible_v<Where, std::string>) internal::At<T, Where> at(T x, Where where) {
  return {std::move(x), std::move(where)};
}
/// One leaf by its path: tree::at(model, "out.bias").set(b). Throws TreeError if there is no such
/// leaf.
template <class T>
internal::AtPath<T> at(T x, std::string path, Loc loc = Loc::current()) {
  return {std::move(x), std::move(path), loc};
}

/// Paths and types, one line a leaf, and the totals: "hidden.weight  f32[128,64]".
template <class T>
std::string to_string(const T& x) {
  return internal::print(entries(x));
}

/// True if the forms are equal and all leaves have equal dtypes, shapes and values (NaN equals
/// nothing).
template <class T>
bool equal(const T& a, const T& b) {
  return structure(a) == structure(b) && internal::leaves_equal(leaves(a), leaves(b));
}

}  // namespace spruce::tree
