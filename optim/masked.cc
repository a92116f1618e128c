// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/masked.h"

#include <algorithm>

namespace spruce::optim::internal {

void check_labels(const std::vector<std::string>& labels) {
  for (auto at = labels.begin(); at != labels.end(); ++at) {
    if (std::find(labels.begin(), at, *at) == at) continue;
    throw ValueError("partition: there are two transformations for \"" + *at +
                     "\"; join them by chain(), or give one of them another label");
  }
}

int place_of_label(const std::vector<std::string>& labels, const std::string& label,
                   const std::string& path) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found != labels.end()) return static_cast<int>(found - labels.begin());
  std::string known;
  for (const std::string& l : labels) known += (known.empty() ? "\"" : ", \"") + l + "\"";
  throw ValueError("partition: the label of " + path + " is \"" + label +
                   "\", and there are transformations for " + known +
                   "; give one more, such as std::pair{\"" + label + "\", set_to_zero()}");
}

}  // namespace spruce::optim::internal

namespace spruce::optim {

Masked<SetToZero> freeze(Mask predicate) { return masked(set_to_zero(), std::move(predicate)); }

}  // namespace spruce::optim
