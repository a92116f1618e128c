// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/transformation.h"

namespace spruce::optim {
namespace internal {

void throw_leaves(const std::vector<tree::Entry>& entries, const Array& a, const Array& b) {
  std::string path;
  for (const tree::Entry& e : entries) {
    if (e.value.impl() == a.impl()) path = e.path;
  }
  const std::string where = path.empty() ? "" : " at " + path;
  if (!b.defined()) {
    throw TreeError("optim: " + to_string(a.aval()) + " meets an empty array" + where +
                    "; gradients, parameters and state must come from one model");
  }
  const std::string both =
      "optim: " + to_string(a.aval()) + " meets " + to_string(b.aval()) + where;
  if (!(a.shape() == b.shape()))
    throw ShapeError(both + "; gradients, parameters and state must come from one model");
  throw DtypeError(both +
                   "; gradients and state must have one dtype: convert the gradients with astype, "
                   "or keep the parameters in f32 and compute in half precision by nn::mixed");
}

Array zero_count() { return zeros({}, int32); }

Array next_count(const Array& count) { return count + 1; }

void check_count(const char* op, const Array& count) {
  if (count.defined() && count.dtype() == int32 && count.rank() == 0) return;
  throw TreeError(std::string(op) + ": the count of the state is " +
                  (count.defined() ? to_string(count.aval()) : "an empty array") +
                  ", it must be i32[]; make the state by init(params) of this optimizer");
}

void throw_part(const char* op, const char* part, bool in_state, const std::string& option) {
  throw TreeError(std::string(op) + ": " + option + ", and the state has " +
                  (in_state ? "a " : "no ") + part +
                  "; make the state by init(params) of this optimizer");
}

Array bias_correction(double decay, const Array& count, Dtype dtype) {
  const Dtype wide = dtype == float64 ? float64 : float32;
  const Array base = array(decay, wide);
  return astype(1.0f - power(base, astype(count, wide)), dtype);
}

}  // namespace internal

using spruce::internal::check_range, spruce::internal::Range;

Scale scale(float factor, Loc loc) {
  const LocScope at(loc);
  check_range("scale", "factor", factor, Range::kFinite);
  return {factor};
}

ScaleByLearningRate scale_by_learning_rate(Schedule rate, Loc loc) {
  const LocScope at(loc);
  rate.check("scale_by_learning_rate");
  return {std::move(rate)};
}

AddDecayedWeights add_decayed_weights(double weight_decay, Loc loc) {
  const LocScope at(loc);
  check_range("add_decayed_weights", "weight_decay", weight_decay, Range::kNotNegative);
  return {weight_decay};
}

}  // namespace spruce::optim
