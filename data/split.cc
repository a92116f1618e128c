// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/split.h"

#include <cmath>

#include "spruce/data/sampler.h"

namespace spruce::data {

std::vector<std::vector<int64_t>> split_indices(int64_t n, const std::vector<double>& fractions,
                                                const Key& key, Loc loc) {
  const OpScope at("split", loc);
  constexpr double kRounding = 1e-9;  // 0.7 + 0.2 + 0.1 is not quite 1
  double total = 0;
  for (const double f : fractions) {
    if (!(f >= 0) || !std::isfinite(f)) {
      throw ValueError("split: a fraction is " + std::to_string(f) +
                       "; fractions have to be finite and not negative");
    }
    total += f;
  }
  if (total > 1 + kRounding) {
    throw ValueError("split: the fractions add up to " + std::to_string(total) +
                     ", which is more than 1");
  }
  const std::vector<int64_t> order = shuffled(n, key).order(0);
  std::vector<int64_t> sizes;
  int64_t used = 0;
  for (const double f : fractions) {
    sizes.push_back(static_cast<int64_t>(std::floor(static_cast<double>(n) * f + kRounding)));
    used += sizes.back();
  }
  const bool all = total > 1 - kRounding;
  for (size_t k = 0; all && k < sizes.size() && used < n; ++k) {
    if (fractions[k] == 0) continue;
    ++sizes[k];
    ++used;
  }
  std::vector<std::vector<int64_t>> out;
  auto at_example = order.begin();
  for (const int64_t size : sizes) {
    out.emplace_back(at_example, at_example + size);
    at_example += size;
  }
  return out;
}

}  // namespace spruce::data
