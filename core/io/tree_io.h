// SPDX-License-Identifier: Apache-2.0
// Any tree as a file: the paths of its leaves are the names, and its static fields go with them.
#pragma once

#include <functional>
#include <map>

#include "spruce/core/io/safetensors.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/tree/named_arrays.h"

namespace spruce::io {

/// What load_tree does with the static fields of a file.
enum class StaticFields : uint8_t {
  kCheck,    ///< those of the tree must be the same
  kRestore,  ///< the result has those of the file
  kKeep      ///< the result has those of the tree; those of the file are not looked at
};

/// Options of load_tree.
struct LoadTreeOptions {
  /// The name in the file of the array with that path in the tree. Without it the two are the same.
  std::function<std::string(const std::string& path)> rename{};
  /// What becomes of the static fields, where the file has any.
  StaticFields static_fields = StaticFields::kCheck;
};

namespace internal {

/// Static fields as text, by path.
using StaticTexts = std::map<std::string, std::string>;

class StaticWriter final : public tree::internal::PathObserver {
 public:
  StaticTexts texts;
  void static_value(const tree::internal::StaticValue& value) override;
};

/// Throws TreeError: a static field cannot get the value that the file has.
[[noreturn]] void throw_not_restored(const std::string& path, const std::string& text,
                                     const char* why);

/// Gives static fields the values of a file.
struct StaticReader : tree::internal::PathKeeper {
  const StaticTexts& texts;
  explicit StaticReader(const StaticTexts& t) : texts(t) {}
  template <class A>
  void leaf(A&, tree::Leaf) {}
  void size(size_t) {}
  template <class S>
  void fixed(S& s) {
    using Value = std::remove_const_t<S>;
    if constexpr (tree::internal::kHasText<Value>) {
      const std::string& text = texts.at(path);
      if (tree::internal::exact_text(s) == text) return;
      if constexpr (std::is_const_v<S>) {
        throw_not_restored(path, text, "it is const");
      } else if constexpr (std::is_same_v<S, const char*> || std::is_same_v<S, std::string_view>) {
        throw_not_restored(path, text, "it points to its text; use std::string");
      } else {
        std::optional<S> value = tree::internal::static_from_text<S>(text);
        if (!value) throw_not_restored(path, text, "its type does not have that value");
        s = std::move(*value);
      }
    }
  }
};

/// What a file of a tree holds.
struct TreeFile {
  NamedArrays arrays;                  // weak where they were so when they were saved
  std::optional<StaticTexts> statics;  // none in files of other programs
};

template <class T>
StaticTexts static_texts(const T& x) {
  StaticWriter w;
  tree::internal::walk(x, w.any());
  return std::move(w.texts);
}

void save_leaves(const std::string& path, const std::vector<tree::Entry>& entries,
                 const StaticTexts& statics);
TreeFile load_leaves(const std::string& path);
/// Throws ValueError where there are arrays and all are undefined.
void check_given(const char* op, const std::vector<tree::Entry>& entries);
/// Throws ValueError for a path or a static field that is no UTF-8.
void check_texts(const char* op, const std::vector<tree::Entry>& entries,
                 const StaticTexts& statics);
/// The arrays of `file` in the order of `entries`. Throws TreeError listing all names that are
/// missing or unexpected, and ShapeError or DtypeError where an array does not fit its leaf.
std::vector<Array> matched_leaves(const std::string& path, const NamedArrays& file,
                                  const std::vector<tree::Entry>& entries,
                                  const LoadTreeOptions& options);
/// Throws TreeError listing the static fields that differ; where values are restored, only those
/// that are missing or unexpected.
void check_statics(const std::string& path, const StaticTexts& file, const StaticTexts& tree,
                   const LoadTreeOptions& options);

}  // namespace internal

/// Saves the leaves of a tree under their paths ("layers.0.weight"), buffers and keys too, as
/// .npz where `path` ends so and as .safetensors otherwise. Leaves that are undefined are left out.
/// Static fields (numbers, bools, enums, strings, shapes; no function pointers) go with them as
/// text: in the metadata of .safetensors under "static." and the path, in .npz as the array
/// "__static__" of the bytes of a JSON object. Weak arrays (C++ numbers) are written in their own
/// dtype, f64 for a double, and marked beside the static fields: "weak." and the path, or `true` in
/// the JSON object. Both formats get checksums: those of .safetensors stand in the metadata under
/// "crc32". Throws IoError; the old file stays whole then.
/// ValueError for text that is no UTF-8, for an array "__static__" in .npz, and where all arrays
/// are undefined, as those of a model that was moved from; TracerError for a traced array.
template <class T>
requires(!std::is_same_v<T, NamedArrays>) void save_tree(const std::string& path, const T& x,
                                                         Loc loc = Loc::current()) {
  const OpScope scope("save_tree", loc);
  const std::vector<tree::Entry> entries = tree::entries(x);
  internal::check_given("save_tree", entries);
  internal::save_leaves(path, entries, internal::static_texts(x));
}

/// A tree like `like` with the arrays of a file of either format, which save_tree or another
/// program wrote. An array is weak where it was so when it was saved, whatever `like` has; those of
/// other programs and of files of the first versions are strong. It needs the dtype that `like` has
/// there, unless one of the two is weak and gives way to the other. If the file has static fields,
/// those of `like` must be the same, or are replaced, or are kept: see LoadTreeOptions. Throws
/// IoError for a damaged file, with the name of the array whose checksum differs (a file without
/// checksums is read as it is); TreeError where names or static fields differ, and ShapeError or
/// DtypeError where an array does not fit.
template <class T>
T load_tree(const std::string& path, const T& like, const LoadTreeOptions& options = {},
            Loc loc = Loc::current()) {
  const OpScope scope("load_tree", loc);
  internal::TreeFile file = internal::load_leaves(path);
  T out = tree::unflatten(
      like, internal::matched_leaves(path, file.arrays, tree::entries(like), options));
  if (file.statics && options.static_fields != StaticFields::kKeep) {
    internal::check_statics(path, *file.statics, internal::static_texts(like), options);
    if (options.static_fields == StaticFields::kRestore) {
      internal::StaticReader reader(*file.statics);
      tree::internal::walk(out, reader);
    }
  }
  return out;
}

}  // namespace spruce::io
