// SPDX-License-Identifier: Apache-2.0
// Trees of arrays: any aggregate struct, container or mix of them. Functions here take trees and
// return trees of the same C++ type.
#pragma once

#include <functional>
#include <iosfwd>

#include "spruce/core/callable.h"
#include "spruce/core/tree/checks.h"
#include "spruce/core/tree/walk.h"

namespace spruce::tree {

namespace internal {
struct StructureVisitor;
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
  friend struct internal::StructureVisitor;
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

struct StructureVisitor : PathKeeper {
  Structure form;
  template <class A>
  void leaf(A&, Leaf kind) {
    const char* what = kind == Leaf::kArray    ? "*"
                       : kind == Leaf::kBuffer ? "* (buffer)"
                                               : "* (key)";
    form.lines_.push_back({path, what});
    ++form.leaves_;
  }
  template <class S>
  void fixed(const S& s) {
    form.lines_.push_back({path, static_text(s)});
    if constexpr (FunctionPointer<S>) form.lines_.back().function = reinterpret_cast<uintptr_t>(s);
  }
  void size(size_t n) { form.lines_.push_back({path, std::to_string(n) + " entries"}); }
};

struct EntryVisitor : PathKeeper {
  std::vector<Entry> entries;
  template <class A>
  void leaf(A& a, Leaf kind) {
    entries.push_back({path, a, kind});
  }
  template <class S>
  void fixed(const S&) {}
  void size(size_t) {}
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
  internal::StructureVisitor v;
  internal::walk(x, v);
  return std::move(v.form);
}

/// The leaves in order: fields as declared, containers front to back, maps by key. Keys as their
/// u32[..., 2] data.
template <class T>
std::vector<Array> leaves(const T& x) {
  std::vector<Array> out;
  internal::for_each_leaf(x, [&](const Array& a, Leaf) { out.push_back(a); });
  return out;
}

/// The leaves with paths and kinds.
template <class T>
std::vector<Entry> entries(const T& x) {
  internal::EntryVisitor v;
  internal::walk(x, v);
  return std::move(v.entries);
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
    size_t i = 0;
    const size_t n = internal::count_leaves(like);
    if (n != leaves.size()) internal::throw_leaf_count("tree::unflatten", n, leaves.size());
    internal::for_each_leaf(out, [&](Array& a, Leaf) { a = leaves[i++]; });
    return out;
  } else {
    return spruce::internal::refused<T>();
  }
}

namespace internal {

// A number for the form of a tree: names of entries, lengths of containers, filled optionals.
struct FormVisitor : Ignore {
  size_t form = 0;
  void mix(size_t n) { form = form * 1099511628211u + n + 1; }
  template <class A>
  void leaf(A&, Leaf) {
    mix(0);
  }
  void size(size_t n) { mix(n); }
  void key(std::string_view name) { mix(std::hash<std::string_view>()(name)); }
};

template <class T>
size_t form_of(const T& x) {
  FormVisitor v;
  walk(x, v);
  return v.form;
}

// True if two trees of one type have one form; false where only their structures can tell.
template <class T, class U>
bool same_form(const T& x, const U& other) {
  if constexpr (std::is_same_v<T, U>)
    return form_of(x) == form_of(other);
  else
    return false;
}

// f(leaf, leaves at the same places of rest...) in place of the leaves of `x` that `select(kind,
// leaf)` chooses. `loc` is the place of the operation.
template <class Select, class F, class T, class... Rest>
auto map_selected(const char* op, Loc loc, Select&& select, F&& f, const T& x,
                  const Rest&... rest) {
  using Function = std::remove_reference_t<F>;
  const FunctionScope within(loc);
  if constexpr (!check_map<Function, Array, ArrayFor<Rest>...>() || !check_tree<T>()) {
    return spruce::internal::refused<T>();
  } else if constexpr (sizeof...(Rest) == 0) {
    T out = x;
    size_t i = 0;
    try {
      for_each_leaf(out, [&](Array& a, Leaf kind) {
        if (select(kind, std::as_const(a))) a = f(std::as_const(a));
        ++i;
      });
    } catch (const ValueError&) {
      check_defined(op, loc, entries(x), i);
      throw;
    }
    return out;
  } else {
    T out = x;
    const std::array<std::vector<Array>, sizeof...(Rest)> others{leaves(rest)...};
    const size_t n = count_leaves(x);
    bool same = true;
    ((same = same && same_form(x, rest)), ...);
    for (const auto& o : others) same = same && o.size() == n;
    if (!same) {
      const LocScope at(loc);
      (check_same(op, structure(x), structure(rest)), ...);
    }
    size_t i = 0;
    try {
      for_each_leaf(out, [&](Array& a, Leaf kind) {
        if (select(kind, std::as_const(a))) {
          [&]<size_t... K>(std::index_sequence<K...>) { a = f(std::as_const(a), others[K][i]...); }
          (std::make_index_sequence<sizeof...(Rest)>{});
        }
        ++i;
      });
    } catch (const ValueError&) {
      check_defined(op, loc, entries(x), i);
      (check_defined(op, loc, entries(rest), i), ...);
      throw;
    }
    return out;
  }
}

template <class F, class T, class... Rest>
auto map_at(Loc loc, F& f, const T& x, const Rest&... rest) {
  return map_selected(
      "tree::map", loc, [](Leaf kind, const Array&) { return kind != Leaf::kKey; }, f, x, rest...);
}

}  // namespace internal

/// f applied to each leaf of `x`, and to the leaves at the same places of the other trees. The
/// result has the type and the static fields of `x`; keys are left as they are. The other trees may
/// have another C++ type with the same form, such as an optimizer's moments. Throws TreeError where
/// forms differ; with more than three trees without the user's line, for which there is no place
/// behind a pack.
template <class F, class T, class... Rest>
auto map(F&& f, const T& x, const Rest&... rest) {
  return internal::map_at(Loc::none(), f, x, rest...);
}
template <class F, class T>
auto map(F&& f, const T& x, Loc loc = Loc::current()) {
  return internal::map_at(loc, f, x);
}
template <class F, class T, class U>
auto map(F&& f, const T& x, const U& y, Loc loc = Loc::current()) {
  return internal::map_at(loc, f, x, y);
}
template <class F, class T, class U, class V>
auto map(F&& f, const T& x, const U& y, const V& z, Loc loc = Loc::current()) {
  return internal::map_at(loc, f, x, y, z);
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
