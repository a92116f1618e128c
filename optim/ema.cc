// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/ema.h"

namespace spruce::optim {

Ema ema(Hyperparam decay, bool debias, Loc loc) {
  const LocScope at(loc);
  decay.check("ema", "decay", spruce::internal::Range::kDecay);
  return {std::move(decay), debias};
}

}  // namespace spruce::optim
