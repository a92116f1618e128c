// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/conv.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/window.h"

namespace spruce {

Array ConvGeneralFunction::operator()(const Array& x, const Array& w, const ConvParams& params,
                                      Loc loc) const {
  const OpScope at("conv_general", loc);
  internal::require_defined("conv_general", "x", x, "w", w);
  const char* op = "conv_general";
  const int spatial = x.rank() > 2 ? x.rank() - 2 : 0;
  ConvParams p = params;
  p.strides = rules::filled_in(op, "strides", p.strides, spatial, 1);
  p.padding_low = rules::filled_in(op, "padding_low", p.padding_low, spatial, 0);
  p.padding_high = rules::filled_in(op, "padding_high", p.padding_high, spatial, 0);
  p.lhs_dilation = rules::filled_in(op, "lhs_dilation", p.lhs_dilation, spatial, 1);
  p.rhs_dilation = rules::filled_in(op, "rhs_dilation", p.rhs_dilation, spatial, 1);
  const Dtype dtype = promote(x.dtype(), x.weak(), w.dtype(), w.weak());
  const bool weak = x.weak() && w.weak();
  return bind1(conv_general_p, {rules::convert(x, dtype, weak), rules::convert(w, dtype, weak)},
               Params::make(std::move(p)));
}

namespace {

Array reduce_window(const Primitive& p, const Array& x, const WindowParams& params) {
  WindowParams w = params;
  const int rank = x.rank();
  w.window = rules::filled_in(p.name, "window", w.window, rank, 1);
  w.strides = rules::filled_in(p.name, "strides", w.strides, rank, 1);
  w.padding_low = rules::filled_in(p.name, "padding_low", w.padding_low, rank, 0);
  w.padding_high = rules::filled_in(p.name, "padding_high", w.padding_high, rank, 0);
  w.base_dilation = rules::filled_in(p.name, "base_dilation", w.base_dilation, rank, 1);
  w.window_dilation = rules::filled_in(p.name, "window_dilation", w.window_dilation, rank, 1);
  return bind1(p, {x}, Params::make(std::move(w)));
}

}  // namespace

Array ReduceWindowSumFunction::operator()(const Array& x, const WindowParams& params,
                                          Loc loc) const {
  const OpScope at("reduce_window_sum", loc);
  return reduce_window(reduce_window_sum_p, x, params);
}

Array ReduceWindowMaxFunction::operator()(const Array& x, const WindowParams& params,
                                          Loc loc) const {
  const OpScope at("reduce_window_max", loc);
  return reduce_window(reduce_window_max_p, x, params);
}

Array ReduceWindowMinFunction::operator()(const Array& x, const WindowParams& params,
                                          Loc loc) const {
  const OpScope at("reduce_window_min", loc);
  return reduce_window(reduce_window_min_p, x, params);
}

}  // namespace spruce
