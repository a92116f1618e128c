// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/lp_pool.h"

#include <cmath>
#include <type_traits>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/nn/wide.h"

namespace spruce::nn {
namespace {

template <int kAxes>
constexpr const char* kLpName = internal::axes_name<kAxes>("lp_pool1d", "lp_pool2d", "lp_pool3d");

// A whole power multiplies, and so has its derivatives at 0 and below.
Array powered(const Array& x, double p) {
  const bool whole = p == std::trunc(p) && std::abs(p) < 1000;
  return whole ? power(x, static_cast<int32_t>(p)) : power(x, p);
}

}  // namespace

template <int kAxes>
Array LpPoolFunction<kAxes>::operator()(const Array& x, double norm_type, const WindowArg& kernel,
                                        const LpPoolOptions& o, Loc loc) const {
  const OpScope at(kLpName<kAxes>, loc);
  spruce::internal::require_defined(kLpName<kAxes>, "x", x);
  if (norm_type == 0 || !std::isfinite(norm_type)) {
    throw ValueError(std::string(kLpName<kAxes>) +
                     ": norm_type must be finite and not 0; max_pool gives the largest element");
  }
  double size = 1;
  for (const int64_t n : kernel.resolve(kLpName<kAxes>, "kernel", kAxes, 1))
    size *= static_cast<double>(n);
  const AvgPoolOptions windows{.stride = o.stride, .ceil_mode = o.ceil_mode};
  Array means = powered(internal::wide(x), norm_type);
  if constexpr (kAxes == 1) means = avg_pool1d(means, kernel, windows);
  if constexpr (kAxes == 2) means = avg_pool2d(means, kernel, windows);
  if constexpr (kAxes == 3) means = avg_pool3d(means, kernel, windows);
  return internal::narrow(norm_type == 1 ? means * size : power(means * size, 1 / norm_type),
                          x.dtype());
}

template struct LpPoolFunction<1>;
template struct LpPoolFunction<2>;
template struct LpPoolFunction<3>;

}  // namespace spruce::nn
