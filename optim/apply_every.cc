// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/apply_every.h"

namespace spruce::optim {

ApplyEvery apply_every(int64_t k, Loc loc) {
  const LocScope at(loc);
  internal::check_steps("apply_every", "k", k);
  return {k};
}

}  // namespace spruce::optim
