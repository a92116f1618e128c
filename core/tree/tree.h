// SPDX-License-Identifier: Apache-2.0
// Trees of arrays: any aggregate struct, container or mix of them. Functions here take trees and
// return trees of the same C++ type.
#pragma once

#include <functional>

#include "spruce/core/tree/walk.h"

namespace spruce::tree {

/// A leaf of a tree with the way to it: "blocks[1].down.bias".
struct Entry {
  std::string path;          ///< from the root; "" for a tree that is a leaf
  Array value;               ///< the leaf; shares its memory, undefined for an undefined leaf
  Leaf kind = Leaf::kArray;  ///< for a key the value is its data, u32[...,2]
};

/// The form of a tree: the paths of its leaves, the static values, which optionals are filled, how
/// long containers are; not the shapes or dtypes of its arrays. Compares with ==.
class Structure {
 public:
  /// One line for each leaf and static value: "hidden.weight: *", "drop.p: 0.25".
  std::string text() const;
  /// Number of leaves, undefined arrays among them.
  size_t leaf_count() const { return leaves_; }
  friend bool operator==(const Structure& a, const Structure& b) { return a.lines_ == b.lines_; }
  /// How `other` differs from this, by path: "at hidden.bias: a leaf in the first, nothing in the
  /// second". Empty if equal.
  std::string difference(const Structure& other) const;

 private:
  template <class T>
  friend Structure structure(const T& x);
  struct Line {
    std::string path, value;
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::vector<Line> lines_;
  size_t leaves_ = 0;
};

namespace internal {

struct StructureVisitor : PathKeeper {
  std::function<void(const std::string&, std::string, bool)> add;
  template <class A>
  void leaf(A&, Leaf kind) {
    add(path, kind == Leaf::kArray ? "*" : kind == Leaf::kBuffer ? "* (buffer)" : "* (key)", true);
  }
  template <class S>
  void fixed(const S& s) {
    add(path, static_text(s), false);
  }
  void size(size_t n) { add(path, std::to_string(n) + " entries", false); }
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
[[noreturn]] void throw_leaf_count(const char* op, size_t expected, size_t got);
[[noreturn]] void throw_no_path(const std::string& path, const std::vector<Entry>& entries);
std::string print(const std::vector<Entry>& entries);
bool leaves_equal(const std::vector<Array>& a, const std::vector<Array>& b);

}  // namespace internal

/// The form of `x`.
template <class T>
Structure structure(const T& x) {
  Structure s;
  internal::StructureVisitor v;
  v.add = [&](const std::string& path, std::string value, bool leaf) {
    s.lines_.push_back({path, std::move(value)});
    s.leaves_ += leaf ? 1 : 0;
  };
  internal::walk(x, v);
  return s;
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
  T out = like;
  size_t i = 0;
  const size_t n = internal::count_leaves(like);
  if (n != leaves.size()) internal::throw_leaf_count("tree::unflatten", n, leaves.size());
  internal::for_each_leaf(out, [&](Array& a, Leaf) { a = leaves[i++]; });
  return out;
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
T map_selected(const char* op, Loc loc, Select&& select, F&& f, const T& x, const Rest&... rest) {
  const FunctionScope within(loc);
  T out = x;
  if constexpr (sizeof...(Rest) == 0) {
    for_each_leaf(out, [&](Array& a, Leaf kind) {
      if (select(kind, std::as_const(a))) a = f(std::as_const(a));
    });
  } else {
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
    for_each_leaf(out, [&](Array& a, Leaf kind) {
      if (select(kind, std::as_const(a))) {
        [&]<size_t... K>(std::index_sequence<K...>) { a = f(std::as_const(a), others[K][i]...); }
        (std::make_index_sequence<sizeof...(Rest)>{});
      }
      ++i;
    });
  }
  return out;
}

template <class F, class T, class... Rest>
T map_at(Loc loc, F& f, const T& x, const Rest&... rest) {
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
T map(F&& f, const T& x, const Rest&... rest) {
  return internal::map_at(Loc::none(), f, x, rest...);
}
template <class F, class T>
T map(F&& f, const T& x, Loc loc = Loc::current()) {
  return internal::map_at(loc, f, x);
}
template <class F, class T, class U>
T map(F&& f, const T& x, const U& y, Loc loc = Loc::current()) {
  return internal::map_at(loc, f, x, y);
}
template <class F, class T, class U, class V>
T map(F&& f, const T& x, const U& y, const V& z, Loc loc = Loc::current()) {
  return internal::map_at(loc, f, x, y, z);
}

/// map with the path of each leaf as first argument: f("hidden.weight", a).
template <class F, class T>
T map_with_path(F&& f, const T& x, Loc loc = Loc::current()) {
  const FunctionScope within(loc);
  const std::vector<Entry> all = entries(x);
  T out = x;
  size_t i = 0;
  internal::for_each_leaf(out, [&](Array& a, Leaf kind) {
    if (kind != Leaf::kKey) a = f(all[i].path, std::as_const(a));
    ++i;
  });
  return out;
}

/// f(f(f(init, leaf), leaf), ...) over the leaves in order, keys left out.
template <class F, class R, class T>
R reduce(F&& f, R init, const T& x) {
  internal::for_each_leaf(x, [&](const Array& a, Leaf kind) {
    if (kind != Leaf::kKey) init = f(std::move(init), a);
  });
  return init;
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
std::pair<T, T> partition(P&& predicate, const T& x) {
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

template <class T, class Where>
class At {
 public:
  At(const T& x, Where where) : x_(x), where_(std::move(where)) {}
  /// A copy of the tree with `value` in that place.
  template <class V>
  T set(V&& value) const {
    T out = x_;
    where_(out) = std::forward<V>(value);
    return out;
  }
  /// A copy of the tree with f(what stands there) in that place.
  template <class F>
  T apply(F&& f) const {
    T out = x_;
    auto& place = where_(out);
    place = f(std::as_const(place));
    return out;
  }

 private:
  const T& x_;
  Where where_;
};

template <class T>
class AtPath {
 public:
  AtPath(const T& x, std::string path, Loc loc) : x_(x), path_(std::move(path)), loc_(loc) {}
  T set(const Array& value) const {
    return apply([&](const Array&) { return value; });
  }
  template <class F>
  T apply(F&& f) const {
    const FunctionScope within(loc_);
    const std::vector<Entry> all = entries(x_);
    bool found = false;
    T out = x_;
    size_t i = 0;
    for_each_leaf(out, [&](Array& a, Leaf) {
      if (all[i++].path == path_) {
        a = f(std::as_const(a));
        found = true;
      }
    });
    if (!found) {
      const LocScope at(loc_);
      throw_no_path(path_, all);
    }
    return out;
  }

 private:
  const T& x_;
  std::string path_;
  Loc loc_;
};

}  // namespace internal

/// One part of a tree, to be replaced in a copy: tree::at(model, [](auto& m) -> auto& { return
/// m.out.bias; }).set(b). Keeps a reference to `x`: use it in one expression.
template <class T, class Where>
requires(!std::is_convertible_v<Where, std::string>) internal::At<T, Where> at(const T& x,
                                                                               Where where) {
  return {x, std::move(where)};
}
/// One leaf by its path: tree::at(model, "out.bias").set(b). Throws TreeError if there is no such
/// leaf.
template <class T>
internal::AtPath<T> at(const T& x, std::string path, Loc loc = Loc::current()) {
  return {x, std::move(path), loc};
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
