// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/schedule.h"

namespace spruce::optim {

Array Schedule::operator()(const Array& count) const {
  const LocReset reset;
  if (f_) return f_(count);
  return value_.is_constant() ? Array(static_cast<float>(value_.constant())) : value_.in(float32);
}

Hyperparam Schedule::at(const Array& count) const {
  return f_ ? Hyperparam((*this)(count)) : value_;
}

}  // namespace spruce::optim
