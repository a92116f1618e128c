// SPDX-License-Identifier: Apache-2.0
// Hyperparameters that are kept in the state.
#pragma once

#include <map>

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Hyperparameters by name, as the function of inject_hyperparams gets them: arrays f[].
class Hyperparams {
 public:
  /// Keeps the arrays.
  explicit Hyperparams(std::map<std::string, Array> values) : values_(std::move(values)) {}
  /// The hyperparameter of that name: f[]. Throws ValueError, with the names there are, for any
  /// other.
  const Array& operator[](const std::string& name) const;

 private:
  std::map<std::string, Array> values_;
};

/// State of inject_hyperparams.
template <class S>
struct InjectHyperparamsState {
  Array count;                               ///< i32[]: updates made so far
  std::map<std::string, Array> hyperparams;  ///< by name: f32[], f64[] where parameters are f64
  S inner;                                   ///< the state of the optimizer
};

namespace internal {

// Throws TreeError for a name in the state that has no value in the optimizer.
void check_names(const std::map<std::string, Schedule>& values,
                 const std::map<std::string, Array>& in_state);
// Throws ValueError for a number that is not finite.
void check_hyperparams(const std::map<std::string, Schedule>& values);
// The values at update `count` in that dtype, those that are functions alone or all of them.
void put_hyperparams(const std::map<std::string, Schedule>& values, const Array& count, Dtype dtype,
                     bool functions_only, std::map<std::string, Array>& out);

}  // namespace internal

/// An optimizer whose hyperparameters are arrays in its state: they are read there, and whatever is
/// put in their place holds for the next update. A compiled step takes them as inputs and is not
/// traced again.
template <class F>
class InjectHyperparams : public internal::Wrapper<InjectHyperparams<F>> {
 public:
  /// Throws ValueError for a number that is not finite.
  InjectHyperparams(F make, std::map<std::string, Schedule> values, Loc loc)
      : make_(std::move(make)), values_(std::move(values)) {
    const LocScope at(loc);
    internal::check_hyperparams(values_);
  }

  /// Count 0, the values at update 0, and the state of the optimizer that is made of them.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    std::map<std::string, Array> values;
    internal::put_hyperparams(values_, zero_count(), internal::widest_dtype(params), false, values);
    auto inner = make_(Hyperparams(values)).init(params);
    return InjectHyperparamsState<decltype(inner)>{zero_count(), std::move(values),
                                                   std::move(inner)};
  }

 private:
  friend class internal::Wrapper<InjectHyperparams>;

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    check_count("inject_hyperparams", state.count);
    internal::check_names(values_, state.hyperparams);
    const Dtype dtype = internal::widest_dtype(params);
    S next{next_count(state.count), state.hyperparams, state.inner};
    for (auto& [name, value] : next.hyperparams) value = Hyperparam(value).in(dtype);
    internal::put_hyperparams(values_, state.count, dtype, true, next.hyperparams);
    auto [updates, inner] = internal::update_part(make_(Hyperparams(next.hyperparams)), grads,
                                                  state.inner, params, extra...);
    next.inner = std::move(inner);
    return {std::move(updates), std::move(next)};
  }

  F make_;
  std::map<std::string, Schedule> values_;
};
/// inject_hyperparams([](const Hyperparams& h) { return adamw({.learning_rate = h["rate"],
/// .weight_decay = h["decay"]}); }, {{"rate", 1e-3}, {"decay", 1e-4}}): a function that makes the
/// optimizer from hyperparameters, and the values they begin with. Then state.hyperparams["rate"] =
/// 1e-4f changes the rate. Values that are functions of the number of updates are put into the
/// state at each update. Throws ValueError for a number that is not finite; update throws TreeError
/// for a name in the state that is not among the values. The numbers that are put into the state
/// are not checked.
template <class F>
InjectHyperparams<F> inject_hyperparams(F make, std::map<std::string, Schedule> values,
                                        Loc loc = Loc::current()) {
  return InjectHyperparams<F>(std::move(make), std::move(values), loc);
}

}  // namespace spruce::optim
