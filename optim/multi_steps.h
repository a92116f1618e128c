// SPDX-License-Identifier: Apache-2.0
// Several backward passes for one update of the parameters.
#pragma once

#include "spruce/optim/clip.h"
#include "spruce/transforms/control/branches/cond.h"

namespace spruce::optim {

/// How many gradients make one update: a number, or a function of the updates made so far (i32[] ->
/// i32[]).
class EveryK {
 public:
  /// The same number always.
  template <std::integral N>
  EveryK(N k) : constant_(static_cast<int64_t>(k)) {}
  /// A function of the number of updates made so far, i32[] -> i32[], of array operations.
  template <class F>
  requires std::is_invocable_r_v<Array, const F&, const Array&> EveryK(F f) : f_(std::move(f)) {}

  /// Throws ValueError for a number below 1.
  void check(const char* op) const;
  /// The number at update `count`: i32[].
  Array operator()(const Array& count) const;

 private:
  int64_t constant_ = 1;
  std::function<Array(const Array&)> f_;
};

/// Whether gradients are to be left out: bool[] of all trainable leaves of a gradient.
using SkipUpdate = std::function<Array(const std::vector<Array>& grads)>;
/// Leaves out gradients that have a NaN or infinity, for MultiStepsOptions::skip and skip_updates.
SkipUpdate skip_not_finite();
/// Leaves out gradients whose global norm, squared, is not below `max_squared_norm`, NaN among
/// them. Throws ValueError unless that is positive.
SkipUpdate skip_large_updates(double max_squared_norm, Loc loc = Loc::current());

/// Options of multi_steps.
struct MultiStepsOptions {
  bool use_grad_mean = true;  ///< the update is made of the mean of the gradients; false: the sum
  SkipUpdate skip = {};       ///< gradients that do not count; empty: all count
};

/// State of multi_steps.
template <class T, class S>
struct MultiStepsState {
  Array mini_step;      ///< i32[]: gradients since the last update
  Array gradient_step;  ///< i32[]: updates made so far
  S inner;              ///< the state of the inner transformation
  T accumulated;        ///< mean or sum of the gradients since the last update
};

/// Updates of zeros for k - 1 gradients, and with the k-th one that of the inner transformation for
/// their mean: batches k times as large in the memory of one.
template <class T>
class MultiSteps : public internal::Wrapper<MultiSteps<T>> {
 public:
  /// Throws ValueError for k < 1.
  MultiSteps(T inner, EveryK k, MultiStepsOptions options, Loc loc)
      : inner_(std::move(inner)), every_k_(std::move(k)), options_(std::move(options)) {
    const LocScope at(loc);
    every_k_.check("multi_steps");
  }

  /// Counts 0, the state of the inner transformation, and zeros for the gradients; those of f16
  /// and bf16 parameters are f32.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    using S = decltype(inner_.init(params));
    return MultiStepsState<P, S>{zero_count(), zero_count(), inner_.init(params),
                                 map_trainable(internal::widened, zeros_like_tree(params))};
  }
  /// bool[]: true after an update of the inner transformation, until the next gradient that counts:
  /// one that is left out changes nothing of the state, and so not this either.
  template <class P, class S>
  static Array has_updated(const MultiStepsState<P, S>& state) {
    return (state.mini_step == 0) & (state.gradient_step > 0);
  }

 private:
  friend class internal::Wrapper<MultiSteps>;

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    check_count("multi_steps", state.mini_step);
    check_count("multi_steps", state.gradient_step);
    const auto add = [&](const Array& g, const Array& a) {
      const Array n = astype(state.mini_step, a.dtype());
      return options_.use_grad_mean ? a + (astype(g, a.dtype()) - a) / (n + 1)
                                    : a + astype(g, a.dtype());
    };
    const G accumulated = map_trainable([&](const Array& a, const Array& g) { return add(g, a); },
                                        state.accumulated, grads);
    const Array k = every_k_(state.gradient_step), last = state.mini_step >= k - 1;
    const auto zeros = [](const G& x) {
      return map_trainable([](const Array& a) { return zeros_like(a); }, x);
    };
    const auto emit = [&] {
      const G total = map_trainable(
          [](const Array& g, const Array& a) { return astype(a, g.dtype()); }, grads, accumulated);
      auto [updates, inner] = internal::update_part(inner_, total, state.inner, params, extra...);
      return std::pair<G, S>{
          std::move(updates),
          {zero_count(), next_count(state.gradient_step), std::move(inner), zeros(accumulated)}};
    };
    const auto wait = [&] {
      return std::pair<G, S>{
          zeros(grads),
          {next_count(state.mini_step), state.gradient_step, state.inner, accumulated}};
    };
    const auto step = [&] { return cond(last, emit, wait); };
    if (!options_.skip) return step();
    return cond(
        options_.skip(internal::trainable_leaves(grads)),
        [&] {
          return std::pair<G, S>{zeros(grads), state};
        },
        step);
  }

  T inner_;
  EveryK every_k_;
  MultiStepsOptions options_;
};
/// Gradient accumulation: multi_steps(adamw(), 4) updates the parameters at each fourth gradient.
/// Throws ValueError for k < 1.
template <class T>
MultiSteps<T> multi_steps(T inner, EveryK k, MultiStepsOptions options = {},
                          Loc loc = Loc::current()) {
  return MultiSteps<T>(std::move(inner), std::move(k), std::move(options), loc);
}

}  // namespace spruce::optim
