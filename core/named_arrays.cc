// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/named_arrays.h"

#include <algorithm>
#include <numeric>

namespace spruce {
namespace {

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

size_t NamedArrays::place(std::string_view name) const {
  const auto at =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](size_t i, std::string_view n) { return entries_[i].first < n; });
  return static_cast<size_t>(at - by_name_.begin());
}

const Array* NamedArrays::find(std::string_view name) const {
  const size_t at = place(name);
  if (at == by_name_.size() || entries_[by_name_[at]].first != name) return nullptr;
  return &entries_[by_name_[at]].second;
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
  const size_t at = place(name);
  if (at < by_name_.size() && entries_[by_name_[at]].first == name) {
    throw ValueError("NamedArrays: the name '" + std::string(name) +
                     "' is taken; names must differ");
  }
  entries_.emplace_back(std::string(name), std::move(array));
  by_name_.insert(by_name_.begin() + static_cast<std::ptrdiff_t>(at), entries_.size() - 1);
}

bool NamedArrays::erase(std::string_view name) {
  const size_t at = place(name);
  if (at == by_name_.size() || entries_[by_name_[at]].first != name) return false;
  const size_t i = by_name_[at];
  by_name_.erase(by_name_.begin() + static_cast<std::ptrdiff_t>(at));
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  for (size_t& k : by_name_) k -= k > i ? 1 : 0;
  return true;
}

bool NamedArrays::same_names(const NamedArrays& other) const {
  return std::equal(begin(), end(), other.begin(), other.end(),
                    [](const value_type& a, const value_type& b) { return a.first == b.first; });
}

}  // namespace spruce
