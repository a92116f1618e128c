// SPDX-License-Identifier: Apache-2.0
// One set of examples cut into several: for training, validation, test.
#pragma once

#include "spruce/data/rows.h"

namespace spruce::data {

/// The numbers 0 .. n-1, shuffled by the key, in as many disjoint parts as there are fractions. The
/// sizes are n times the fractions, rounded down; what is left over goes to the first parts, one
/// each, if the fractions add up to 1, and to none of them otherwise. Throws ValueError for
/// fractions that are negative, not finite, or add up to more than 1.
std::vector<std::vector<int64_t>> split_indices(int64_t n, const std::vector<double>& fractions,
                                                const Key& key, Loc loc = Loc::current());

/// The examples of a tree in parts, as by split_indices(): split(set, {0.8, 0.2}, key). Throws as
/// it and as example_count().
template <class T>
std::vector<T> split(const T& examples, const std::vector<double>& fractions, const Key& key,
                     Loc loc = Loc::current()) {
  const OpScope at("split", loc);
  const int64_t n = internal::example_count("split", tree::entries(examples));
  std::vector<T> out;
  for (const std::vector<int64_t>& part : split_indices(n, fractions, key))
    out.push_back(take_examples(examples, part));
  return out;
}

}  // namespace spruce::data
