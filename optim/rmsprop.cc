// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/rmsprop.h"

namespace spruce::optim {

using spruce::internal::check_range, spruce::internal::Range;

Rmsprop::Rmsprop(RmspropOptions options, Loc loc) : options_(std::move(options)) {
  const LocScope at(loc);
  options_.learning_rate.check("rmsprop");
  check_range("rmsprop", "decay", options_.decay, Range::kDecay);
  check_range("rmsprop", "eps", options_.eps, Range::kNotNegative);
  check_range("rmsprop", "initial_scale", options_.initial_scale, Range::kNotNegative);
  check_range("rmsprop", "momentum", options_.momentum, Range::kShare);
}

}  // namespace spruce::optim
