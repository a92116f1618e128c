// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/named_arrays.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace spruce {
namespace {

constexpr size_t kFew = 8;  // entries that are quicker looked through than hashed

// How many letters to insert, remove or replace to make one of the other.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

[[noreturn]] void throw_missing(std::string_view name, const NamedArrays& arrays) {
  std::vector<std::string> names;
  for (const auto& entry : arrays) names.push_back(entry.first);
  std::string message = "NamedArrays: no array is named '" + std::string(name) + "'";
  const std::vector<std::string> close = internal::close_names(name, names);
  if (names.empty())
    message += "; there are no arrays at all";
  else
    message += close.empty() ? "; the names are" : "; close to it are";
  const std::vector<std::string>& listed = close.empty() ? names : close;
  for (size_t i = 0; i < listed.size() && i < 10; ++i)
    message += (i > 0 ? ", '" : " '") + listed[i] + "'";
  if (listed.size() > 10) message += " and " + std::to_string(listed.size() - 10) + " more";
  throw TreeError(message);
}

}  // namespace

namespace internal {

std::vector<std::string> close_names(std::string_view name, const std::vector<std::string>& names) {
  std::vector<std::pair<size_t, size_t>> scored;  // distance, index
  for (size_t i = 0; i < names.size(); ++i) {
    const bool within = !name.empty() && names[i].find(name) != std::string::npos;
    const size_t distance = within ? 1 : edit_distance(name, names[i]);
    if (within || distance <= std::max<size_t>(2, name.size() / 3))
      scored.emplace_back(distance, i);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> close;
  for (size_t i = 0; i < scored.size() && i < 3; ++i) close.push_back(names[scored[i].second]);
  return close;
}

}  // namespace internal

NamedArrays::NamedArrays(std::initializer_list<value_type> entries, Loc loc) {
  const LocScope at(loc);
  for (const auto& entry : entries) insert(entry.first, entry.second);
}

size_t NamedArrays::index_of(std::string_view name) const {
  if (table_.empty()) {
    size_t i = 0;
    while (i < entries_.size() && entries_[i].first != name) ++i;
    return i;
  }
  const size_t mask = table_.size() - 1;
  for (size_t at = std::hash<std::string_view>()(name) & mask;; at = (at + 1) & mask) {
    if (table_[at] == 0) return entries_.size();
    const size_t i = table_[at] - 1;
    if (entries_[i].first == name) return i;
  }
}

void NamedArrays::note(size_t i) {
  const size_t mask = table_.size() - 1;
  size_t at = std::hash<std::string_view>()(entries_[i].first) & mask;
  while (table_[at] != 0) at = (at + 1) & mask;
  table_[at] = static_cast<uint32_t>(i + 1);
}

void NamedArrays::rebuild(size_t places) {
  table_.assign(places, 0);
  for (size_t i = 0; i < entries_.size() && places > 0; ++i) note(i);
}

const Array* NamedArrays::find(std::string_view name) const {
  const size_t i = index_of(name);
  return i == entries_.size() ? nullptr : &entries_[i].second;
}

Array* NamedArrays::find(std::string_view name) {
  return const_cast<Array*>(std::as_const(*this).find(name));
}

const Array& NamedArrays::at(std::string_view name, Loc loc) const {
  const LocScope scope(loc);
  const Array* found = find(name);
  if (found == nullptr) throw_missing(name, *this);
  return *found;
}

Array& NamedArrays::at(std::string_view name, Loc loc) {
  return const_cast<Array&>(std::as_const(*this).at(name, loc));
}

Array& NamedArrays::operator[](std::string_view name) {
  if (Array* found = find(name)) return *found;
  insert(name, Array());
  return entries_.back().second;
}

void NamedArrays::insert(std::string_view name, Array array, Loc loc) {
  const LocScope scope(loc);
  if (find(name) != nullptr) {
    throw ValueError("NamedArrays: the name '" + std::string(name) +
                     "' is taken; names must differ");
  }
  entries_.emplace_back(std::string(name), std::move(array));
  if (entries_.size() <= kFew) return;
  if (2 * entries_.size() > table_.size())
    rebuild(std::bit_ceil(4 * entries_.size()));
  else
    note(entries_.size() - 1);
}

bool NamedArrays::erase(std::string_view name) {
  const size_t i = index_of(name);
  if (i == entries_.size()) return false;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  rebuild(entries_.size() <= kFew ? 0 : table_.size());
  return true;
}

bool NamedArrays::same_names(const NamedArrays& other) const {
  return std::equal(begin(), end(), other.begin(), other.end(),
                    [](const value_type& a, const value_type& b) { return a.first == b.first; });
}

}  // namespace spruce
