// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/sgd.h"

namespace spruce::optim {

using spruce::internal::check_range, spruce::internal::Range;

Trace trace(float decay, bool nesterov, Loc loc) {
  const LocScope at(loc);
  check_range("trace", "decay", decay, Range::kShare);
  return {decay, nesterov};
}

Sgd::Sgd(SgdOptions options, Loc loc) : options_(std::move(options)) {
  const LocScope at(loc);
  options_.learning_rate.check("sgd");
  check_range("sgd", "momentum", options_.momentum, Range::kShare);
}

}  // namespace spruce::optim
