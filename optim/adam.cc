// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/adam.h"

namespace spruce::optim {
namespace {

using spruce::internal::check_range, spruce::internal::Range;

void check(const char* op, const ScaleByAdam& o) {
  check_range(op, "b1", o.b1, Range::kDecay);
  check_range(op, "b2", o.b2, Range::kDecay);
  check_range(op, "eps", o.eps, Range::kNotNegative);
  check_range(op, "eps_root", o.eps_root, Range::kNotNegative);
}

}  // namespace

ScaleByAdam scale_by_adam(ScaleByAdam options, Loc loc) {
  const LocScope at(loc);
  check("scale_by_adam", options);
  return options;
}

Adam::Adam(AdamWOptions options, const char* op, Loc loc) : options_(std::move(options)), op_(op) {
  const LocScope at(loc);
  options_.learning_rate.check(op);
  check(op, moments());
  check_range(op, "weight_decay", options_.weight_decay, Range::kNotNegative);
}

}  // namespace spruce::optim
