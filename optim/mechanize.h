// SPDX-License-Identifier: Apache-2.0
// Mechanic (Cutkosky et al. 2023, https://arxiv.org/abs/2306.00144): a factor of the updates of
// another optimizer that is learned while it runs.
#pragma once

#include "spruce/optim/clip.h"
#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Options of mechanize.
struct MechanizeOptions {
  Hyperparam weight_decay = 1e-2;  ///< of the factor's gradient, not of the parameters
  Hyperparam eps = 1e-8;           ///< added to what is divided by
  Hyperparam s_init = 1e-6;        ///< the first factor, and the stake of each learner
  int64_t num_betas = 6;           ///< learners, with decays 0.9, 0.99, ...
};

/// What mechanize knows of the factor: one number for each learner, f[num_betas].
struct MechanicLearners {
  Array r;  ///< what was won
  Array m;  ///< the largest gradient
  Array v;  ///< sum of squared gradients
  Array s;  ///< the factors, which are added up
};

/// State of mechanize.
template <class T, class S>
struct MechanizeState {
  S inner;                   ///< the state of the inner optimizer
  Array count;               ///< i32[]
  MechanicLearners learned;  ///< of the factor
  T start;                   ///< the parameters at the first update
};

namespace internal {
MechanicLearners first_learners(const MechanizeOptions& options, Dtype dtype);
// `slope` is the derivative of the loss by the factor.
MechanicLearners next_learners(const MechanicLearners& before, const Array& slope,
                               const MechanizeOptions& options);
void check_mechanize(const MechanizeOptions& options);
}  // namespace internal

/// The sum of the inner optimizer's updates, times a factor that is learned: parameters are the
/// first ones plus that product.
template <class T>
class Mechanize : public internal::Wrapper<Mechanize<T>> {
 public:
  /// Throws ValueError for options out of range.
  Mechanize(T inner, MechanizeOptions options, Loc loc)
      : inner_(std::move(inner)), o_(std::move(options)) {
    const LocScope at(loc);
    internal::check_mechanize(o_);
  }

  /// The state of the inner optimizer, and the parameters.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return MechanizeState<P, decltype(inner_.init(params))>{
        inner_.init(params), zero_count(),
        internal::first_learners(o_, internal::widest_dtype(params)), as_arrays(params)};
  }

 private:
  friend class internal::Wrapper<Mechanize>;

  const char* name() const { return "mechanize"; }

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    check_count("mechanize", state.count);
    auto [inner_updates, inner] =
        internal::update_part(inner_, grads, state.inner, params, extra...);
    const Array first = state.count == 0;
    const G start = map_trainable(
        [&](const Array& s, const Array& p) { return where(first, astype(p, s.dtype()), s); },
        state.start, params);
    const Array factor = sum(state.learned.s);
    const Dtype dtype = factor.dtype();
    const Hyperparam decay(
        astype(o_.weight_decay.in(dtype)*factor * astype(global_norm(grads), dtype) /
                   (astype(global_norm(params), dtype) + o_.eps),
               dtype)),
        by(factor + o_.eps);
    // The sum of the inner updates so far, with its sign turned, as the parameters have it.
    const G before = map_trainable([&](const Array& g, const Array& p,
                                       const Array& s) { return astype((s - p) / by, g.dtype()); },
                                   grads, params, start);
    Array slope = zeros({}, dtype);
    (void)map_trainable(
        [&](const Array& g, const Array& d, const Array& p) {
          slope = slope + astype(sum((g + decay * p) * d), dtype);
          return g;
        },
        grads, before, params);
    const MechanicLearners learned = internal::next_learners(state.learned, slope, o_);
    const Hyperparam next_factor(sum(learned.s));
    G updates = map_trainable([&](const Array& u, const Array& d, const Array& p,
                                  const Array& s) { return s - next_factor * (d - u) - p; },
                              inner_updates, before, params, start);
    return {std::move(updates), {std::move(inner), next_count(state.count), learned, start}};
  }

  T inner_;
  MechanizeOptions o_;
};
/// mechanize(adamw({.learning_rate = 1})): the learning rate is found, a schedule of it may be
/// given to the inner optimizer. Throws ValueError for options out of range.
template <class T>
Mechanize<T> mechanize(T inner, MechanizeOptions options = {}, Loc loc = Loc::current()) {
  return Mechanize<T>(std::move(inner), std::move(options), loc);
}

}  // namespace spruce::optim
