// SPDX-License-Identifier: Apache-2.0
// Clipping of gradients.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

namespace internal {

// f(x), computed in f32 where x is f16 or bf16.
template <class F>
Array in_wide(F&& f, const Array& x) {
  return astype(f(widened(x)), x.dtype());
}
// The root of x >= 0, whose derivative at 0 is 0.
Array safe_root(const Array& x);

}  // namespace internal

/// f32[], f64[] where there are f64 leaves: the root of the sum of squares over all floating leaves
/// (buffers and integers left out), 0 without any. Its gradient where all are 0 is 0.
template <class T>
Array global_norm(const T& x, Loc loc = Loc::current()) {
  const LocScope at(loc);
  return internal::safe_root(internal::total([](const Array& a) { return sum(square(a)); }, x));
}

/// Scales the gradients down so that their global_norm is at most `max_norm` (Pascanu et al. 2013).
struct ClipByGlobalNorm {
  Hyperparam max_norm;  ///< the largest global_norm that stays as it is, above 0

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients, no state}: as they are where their norm is below max_norm, else times max_norm /
  /// norm (f16 and bf16 by way of f32). The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("clip_by_global_norm", loc);
    const Array norm = global_norm(grads), small = norm < max_norm.in(norm.dtype());
    // What is not taken must not divide by 0.
    const Array by = where(small, ones_like(norm), norm);
    const auto clipped = [&](const Array& g) {
      return where(small, g, g / astype(by, g.dtype()) * max_norm);
    };
    return {map_trainable([&](const Array& g) { return internal::in_wide(clipped, g); }, grads),
            {}};
  }
};
/// Clipping as a part of chain(), in front of the optimizer. Throws ValueError unless max_norm is
/// positive.
ClipByGlobalNorm clip_by_global_norm(Hyperparam max_norm, Loc loc = Loc::current());

/// Clips each element of the gradients to -max_delta..max_delta.
struct Clip {
  Hyperparam max_delta;  ///< the largest absolute value that stays as it is, above 0

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients within -max_delta..max_delta, no state}. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("clip", loc);
    return {map_trainable(
                [&](const Array& g) {
                  const Array most = max_delta.in(g.dtype());
                  return spruce::clip(g, -most, most);
                },
                grads),
            {}};
  }
};
/// Clipping by value as a part of chain(), in front of the optimizer. Throws ValueError unless
/// max_delta is positive.
Clip clip(Hyperparam max_delta, Loc loc = Loc::current());

/// Scales each array of the gradients down so that the root of its mean square is at most
/// `threshold` (Shazeer and Stern 2018, https://arxiv.org/abs/1804.04235).
struct ClipByBlockRms {
  Hyperparam threshold;  ///< the largest root mean square that stays as it is, above 0

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients / max(1, rms / threshold), no state}; f16 and bf16 by way of f32. The parameters
  /// are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("clip_by_block_rms", loc);
    const auto clipped = [&](const Array& g) {
      return g / maximum(1.0f, internal::safe_root(mean(square(g))) / threshold);
    };
    return {map_trainable([&](const Array& g) { return internal::in_wide(clipped, g); }, grads),
            {}};
  }
};
/// Clipping of each array by itself as a part of chain(). Throws ValueError unless threshold is
/// positive.
ClipByBlockRms clip_by_block_rms(Hyperparam threshold, Loc loc = Loc::current());

/// The norm of each unit, in each of its elements: of the shape of x. A unit is one output, as in
/// adaptive_grad_clip, or what lies along `axes`. (Optax has the outputs along the last axis.)
/// Throws ShapeError for an axis that is not there.
Array unitwise_norm(const Array& x, const AxisArg& axes = none, Loc loc = Loc::current());
/// `grad` where norm < max_norm, else grad * max_norm / max(norm, div_eps). Throws ShapeError
/// unless all three have one shape.
Array unitwise_clip(const Array& norm, const Array& max_norm, const Array& grad,
                    const Hyperparam& div_eps = 1e-6, Loc loc = Loc::current());

/// Scales the gradients of each unit down where their norm is above `clipping` times the norm of
/// its weights (Brock et al. 2021, https://arxiv.org/abs/2102.06171). A unit is one output of an
/// array: all elements of f[n] and f[]; of the weights f[out, in, ...] of nn all that belong to one
/// index of the first axis. (Optax takes weights of Flax, f[..., in, out].)
struct AdaptiveGradClip {
  Hyperparam clipping;    ///< the largest ratio of the norms that stays as it is, above 0
  Hyperparam eps = 1e-3;  ///< the least norm of weights that counts
  AxisArg axes = none;    ///< axes of the norm for all arrays; none: by rank, as above

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {clipped gradients, no state}. Throws TreeError where trees differ in form, ShapeError where
  /// arrays do in shape.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("adaptive_grad_clip", loc);
    return {
        map_trainable([&](const Array& g, const Array& p) { return clipped(g, p); }, grads, params),
        {}};
  }

 private:
  Array clipped(const Array& grad, const Array& param) const;
};

/// Clipping unit by unit as a part of chain(), in front of the optimizer. Throws ValueError unless
/// clipping is positive and eps finite and not negative.
AdaptiveGradClip adaptive_grad_clip(AdaptiveGradClip options, Loc loc = Loc::current());
/// The same with the other options at their defaults.
AdaptiveGradClip adaptive_grad_clip(Hyperparam clipping, Loc loc = Loc::current());

/// Updates of norm `scale_factor`: grads * scale_factor / (global_norm + eps).
struct NormalizeByUpdateNorm {
  Hyperparam scale_factor = 1;  ///< the norm of the updates
  Hyperparam eps = 1e-6;        ///< added to the norm

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {normalized gradients, no state}; f16 and bf16 by way of f32. The parameters are not looked
  /// at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("normalize_by_update_norm", loc);
    const Array norm = (global_norm(grads) + eps) / scale_factor;
    const auto scaled = [&](const Array& g) { return g / astype(norm, g.dtype()); };
    return {map_trainable([&](const Array& g) { return internal::in_wide(scaled, g); }, grads), {}};
  }
};
/// Normalized gradients as a part of chain(). Throws ValueError unless scale_factor is positive and
/// eps finite and not negative.
NormalizeByUpdateNorm normalize_by_update_norm(NormalizeByUpdateNorm options = {},
                                               Loc loc = Loc::current());

/// Updates whose mean over all axes but the first is 0, for arrays of rank 2 or more (gradient
/// centralization, Yong et al. 2020, https://arxiv.org/abs/2004.01461). For weights f[out, in] that
/// is the mean over the inputs of each output.
struct Centralize {
  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients less their means, no state}. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("centralize", loc);
    return {map_trainable(
                [](const Array& g) {
                  if (g.rank() < 2) return g;
                  std::vector<int64_t> axes;
                  for (int64_t i = 1; i < g.rank(); ++i) axes.push_back(i);
                  return g - mean(g, axes, {.keepdims = true});
                },
                grads),
            {}};
  }
};
/// Gradient centralization as a part of chain(), in front of the optimizer.
inline Centralize centralize() { return {}; }

/// Gradients with 0 in place of each NaN.
struct ZeroNans {
  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients without NaN, no state}. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("zero_nans", loc);
    return {map_trainable([](const Array& g) { return where(isnan(g), zeros_like(g), g); }, grads),
            {}};
  }
};
/// NaN replaced by 0 as a part of chain(), in front of the optimizer. Infinity stays.
inline ZeroNans zero_nans() { return {}; }

}  // namespace spruce::optim
