// SPDX-License-Identifier: Apache-2.0
// NamedArrays: a map from names to arrays that keeps the order of insertion.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spruce/core/array.h"

namespace spruce {

/// Arrays by name, in the order in which they were inserted: the parameters of a module, the
/// contents of a file. Copies share the memory of the arrays. A tree whose leaves are the arrays.
class NamedArrays {
 public:
  /// A name and its array.
  using value_type = std::pair<std::string, Array>;
  /// Reads entries in the order of insertion; invalid once one is inserted or erased.
  using const_iterator = std::vector<value_type>::const_iterator;

  /// No entries.
  NamedArrays() = default;
  /// Throws ValueError for a name that is given twice.
  NamedArrays(std::initializer_list<value_type> entries, Loc loc = Loc::current());

  /// Number of entries.
  size_t size() const { return entries_.size(); }
  /// True without entries.
  bool empty() const { return entries_.empty(); }
  /// True if there is an array of that name, even an undefined one.
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  /// The array of that name. Throws TreeError, with the names that are close to it, if there is
  /// none.
  const Array& at(std::string_view name, Loc loc = Loc::current()) const;
  Array& at(std::string_view name, Loc loc = Loc::current());
  /// The array of that name; an undefined one is inserted if there is none.
  Array& operator[](std::string_view name);
  /// The array of that name, or null.
  const Array* find(std::string_view name) const;
  Array* find(std::string_view name);

  /// Appends an array. Throws ValueError if the name is taken.
  void insert(std::string_view name, Array array, Loc loc = Loc::current());
  /// Takes an array out; false if there is none of that name.
  bool erase(std::string_view name);

  /// Entry i in the order of insertion, i in 0 .. size() - 1.
  const std::string& name(size_t i) const { return entries_[i].first; }
  /// The array of entry i, i in 0 .. size() - 1.
  const Array& value(size_t i) const { return entries_[i].second; }
  Array& value(size_t i) { return entries_[i].second; }

  /// The first entry in the order of insertion: for (const auto& [name, array] : arrays).
  const_iterator begin() const { return entries_.begin(); }
  /// Behind the last entry.
  const_iterator end() const { return entries_.end(); }

  /// Whether the arrays are no parameters but what is carried along, such as running statistics:
  /// nn::mixed leaves them in their dtype. So are those of nn::functionalize and what it returns;
  /// copies know it.
  bool holds_buffers() const { return holds_buffers_; }
  /// Says so, or not.
  void set_holds_buffers(bool on) { holds_buffers_ = on; }

  /// True if both have the same names in the same order.
  bool same_names(const NamedArrays& other) const;

 private:
  size_t index_of(std::string_view name) const;  // size() if there is none
  void note(size_t i);                           // enters entry i into the table
  void rebuild(size_t places);

  std::vector<value_type> entries_;
  // Entries by the hash of their names: the number + 1, 0 for none. Its size is a power of two, and
  // of 0 for few entries, which are looked through.
  std::vector<uint32_t> table_;
  bool holds_buffers_ = false;
};

namespace internal {

/// Up to three of `names` that are spelled most like `name`, the closest first; none where all are
/// far from it.
std::vector<std::string> close_names(std::string_view name, const std::vector<std::string>& names);

}  // namespace internal
}  // namespace spruce
