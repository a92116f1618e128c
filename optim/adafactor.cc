// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/adafactor.h"

#include <algorithm>
#include <numeric>

namespace spruce::optim {
namespace {

using spruce::internal::Range;

constexpr const char* kParts[] = {"row means", "column means", "second moment"};

// The second longest axis and the longest one; of axes of one length the later ones.
std::array<int, 2> longest_axes(const Shape& shape) {
  std::vector<int> axes(static_cast<size_t>(shape.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return shape[a] < shape[b]; });
  return {axes[axes.size() - 2], axes.back()};
}

bool is_factored(const ScaleByFactoredRms& o, const Shape& shape) {
  return o.factored && shape.rank() >= 2 &&
         shape[longest_axes(shape)[0]] >= o.min_dim_size_to_factor;
}

Shape without(const Shape& shape, int axis) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != axis) sizes.push_back(shape[i]);
  }
  return Shape(sizes);
}

}  // namespace

std::array<Shape, 3> ScaleByFactoredRms::shapes(const Array& p) const {
  const Shape one{1};
  if (!is_factored(*this, p.shape())) return {one, one, p.shape()};
  const auto [d1, d0] = longest_axes(p.shape());
  return {without(p.shape(), d0), without(p.shape(), d1), one};
}

Array ScaleByFactoredRms::next_part(size_t part, const Array& g, const Array& v,
                                    const Array& count) const {
  internal::check_shape("scale_by_factored_rms", kParts[part], g, v, shapes(g)[part]);
  if (v.dtype() != g.dtype()) internal::throw_leaves("", g, astype(zeros_like(g), v.dtype()));
  const bool split = is_factored(*this, g.shape());
  if (split == (part == 2)) return zeros({1}, g.dtype());
  const Dtype wide = g.dtype() == float64 ? float64 : float32;
  const Array t = maximum(astype(count, wide) - static_cast<double>(step_offset) + 1.0, 1.0);
  const Hyperparam decay(1.0 - power(t, -decay_rate.in(wide)));
  const Array squares = square(g) + epsilon;
  if (!split) return running_mean(squares, v, decay);
  const auto [d1, d0] = longest_axes(g.shape());
  return running_mean(mean(squares, part == 0 ? d0 : d1), v, decay);
}

Array ScaleByFactoredRms::scaled(const Array& g, const Array& row, const Array& col,
                                 const Array& v) const {
  if (!is_factored(*this, g.shape())) return g * rsqrt(v);
  const auto [d1, d0] = longest_axes(g.shape());
  const Array mean_row = mean(row, d1 > d0 ? d1 - 1 : d1, {.keepdims = true});
  return g * expand_dims(rsqrt(row / mean_row), d0) * expand_dims(rsqrt(col), d1);
}

ScaleByFactoredRms scale_by_factored_rms(ScaleByFactoredRms o, Loc loc) {
  const char* name = "scale_by_factored_rms";
  const LocScope at(loc);
  o.decay_rate.check(name, "decay_rate", Range::kNotNegative);
  o.epsilon.check(name, "epsilon", Range::kNotNegative);
  internal::check_steps(name, "step_offset", o.step_offset, 0);
  internal::check_steps(name, "min_dim_size_to_factor", o.min_dim_size_to_factor);
  return o;
}

Adafactor::Adafactor(AdafactorOptions options, Loc loc) : options_(std::move(options)) {
  const OpScope at("adafactor", loc);
  options_.learning_rate.check("adafactor");
  options_.momentum.check("adafactor", "momentum", Range::kDecay);
  options_.weight_decay_rate.check("adafactor", "weight_decay_rate", Range::kNotNegative);
  if (options_.clipping_threshold) {
    options_.clipping_threshold->check("adafactor", "clipping_threshold", Range::kPositive);
  }
  moments_ = scale_by_factored_rms({options_.factored, options_.decay_rate, options_.decay_offset,
                                    options_.min_dim_size_to_factor, options_.eps});
}

Adafactor adafactor(AdafactorOptions options, Loc loc) {
  return Adafactor(std::move(options), loc);
}

}  // namespace spruce::optim
