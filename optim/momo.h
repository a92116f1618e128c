// SPDX-License-Identifier: Apache-2.0
// MoMo (Schaipp et al. 2023, https://arxiv.org/abs/2305.07583): momentum and Adam whose steps are
// no longer than a model of the loss, cut off at a lower bound, allows.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// State of momo; `nu` is empty (zeros of rank 0) for momentum without Adam's squares.
template <class T>
struct MomoState {
  Array count;        ///< i32[]
  T mu;               ///< running mean of the gradients
  T nu;               ///< the same of their squares; of momo_adam alone
  Array mean_loss;    ///< f[]: running mean of the losses
  Array mean_slope;   ///< f[]: the same of the products of gradients and parameters
  Array lower_bound;  ///< f[]: of the loss, as it is estimated
};

/// Options of momo and momo_adam.
struct MomoOptions {
  Schedule learning_rate = 1;      ///< the largest; may depend on the number of updates
  Hyperparam b1 = 0.9;             ///< decay of the mean of gradients
  Hyperparam lower_bound = 0;      ///< of the loss
  Hyperparam weight_decay = 0;     ///< decoupled
  bool adapt_lower_bound = false;  ///< estimate the bound while training
  Hyperparam b2 = 0.999;           ///< decay of the mean of squares; of momo_adam alone
  Hyperparam eps = 1e-8;           ///< added to the root; of momo_adam alone
};

namespace internal {

// The sums of products of the leaves of two lists: f32[], or f64[] where there is one.
Array dot(const std::vector<Array>& a, const std::vector<Array>& b);

// What the model of the loss says: how far to go, and the bound for the next step.
struct MomoStep {
  Array length, next_bound;
};
struct MomoModel {
  Array mean_loss, mean_slope, product, norm, bound, correction;
};
MomoStep momo_step(const MomoModel& model, const MomoOptions& options, const Hyperparam& rate);

}  // namespace internal

/// MoMo with Adam's squares or without.
template <bool kAdam>
class Momo {
 public:
  /// Throws ValueError for options out of range.
  explicit Momo(MomoOptions options, Loc loc = Loc::current()) : o_(std::move(options)) {
    const LocScope at(loc);
    o_.learning_rate.check(kName);
    internal::check_moments(kName, o_.b1, o_.b2, o_.eps, 0);
    o_.lower_bound.check(kName, "lower_bound", spruce::internal::Range::kFinite);
    o_.weight_decay.check(kName, "weight_decay", spruce::internal::Range::kNotNegative);
  }

  /// Count 0, zeros, and the lower bound; numbers have the widest dtype of the parameters.
  template <class T>
  MomoState<T> init(const T& params) const {
    const Dtype dtype = internal::widest_dtype(params);
    const Array zero = zeros({}, dtype);
    return {zero_count(),
            zeros_like_tree(params),
            kAdam ? zeros_like_tree(params) : empty(params),
            zero,
            zero,
            o_.lower_bound.in(dtype)};
  }
  /// {updates, next state}; `value` is the loss, f[]. Throws ShapeError where the loss is not of
  /// rank 0, and as adam.
  template <class G, class P>
  std::pair<G, MomoState<G>> update(const G& grads, const MomoState<G>& state, const P& params,
                                    const Array& value, Loc loc = Loc::current()) const {
    const OpScope at(kName, loc);
    check_count(kName, state.count);
    const Dtype dtype = state.mean_loss.dtype();
    // The mean of plain momentum begins with the first gradient, that of Adam with zeros.
    const Hyperparam b1 =
        kAdam ? o_.b1 : Hyperparam(where(state.count == 0, zeros({}, dtype), o_.b1.in(dtype)));
    MomoState<G> next{
        next_count(state.count), update_moment(grads, state.mu, b1), state.nu, {}, {}, {}};
    G directions = next.mu;
    if constexpr (kAdam) {
      next.nu = update_second_moment(grads, state.nu, o_.b2);
      directions = map_trainable(
          [&](const Array& m, const Array& v) {
            return m / (sqrt(v / bias_correction(o_.b2, next.count, v.dtype())) + o_.eps);
          },
          next.mu, next.nu);
    }
    const auto p = internal::trainable_leaves(params), m = internal::trainable_leaves(next.mu);
    const auto scalar = [&](const Array& x) { return astype(x, dtype); };
    next.mean_loss = running_mean(Hyperparam(value).in(dtype), state.mean_loss, b1);
    next.mean_slope = running_mean(scalar(internal::dot(internal::trainable_leaves(grads), p)),
                                   state.mean_slope, b1);
    const Hyperparam rate = o_.learning_rate.rate(kName, state.count);
    const internal::MomoStep step = internal::momo_step(
        {next.mean_loss, next.mean_slope, scalar(internal::dot(m, p)),
         scalar(internal::dot(m, internal::trainable_leaves(directions))), state.lower_bound,
         kAdam ? bias_correction(o_.b1, next.count, dtype) : ones({}, dtype)},
        o_, rate);
    next.lower_bound = step.next_bound;
    const Hyperparam decay = rate * o_.weight_decay, length(step.length);
    const Hyperparam shrink = decay / (Hyperparam(1) + decay);
    G updates =
        map_trainable([&](const Array& d, const Array& w) { return -(length * d) - shrink * w; },
                      directions, params);
    return {std::move(updates), std::move(next)};
  }
  /// Does not compile: the loss is missing.
  template <class G, class P>
  std::pair<G, MomoState<G>> update(const G& grads, const MomoState<G>& state, const P&) const {
    static_assert(spruce::internal::kNever<G>,
                  "spruce: momo needs the loss: update(grads, state, params, loss)");
    return {grads, state};
  }

 private:
  static constexpr const char* kName = kAdam ? "momo_adam" : "momo";
  template <class T>
  static T empty(const T& params) {
    return map_trainable([](const Array& a) { return zeros({}, a.dtype()); },
                         zeros_like_tree(params));
  }

  MomoOptions o_;
};
/// SGD with momentum by MoMo: momo().update(grads, state, params, loss). Throws ValueError for
/// options out of range.
Momo<false> momo(MomoOptions options = {}, Loc loc = Loc::current());
/// Adam by MoMo, learning rates up to 1e-2 unless another is given. Throws as momo.
Momo<true> momo_adam(MomoOptions options = {.learning_rate = 1e-2}, Loc loc = Loc::current());

}  // namespace spruce::optim
