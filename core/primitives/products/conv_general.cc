// SPDX-License-Identifier: Apache-2.0
// Convolution over 1 to 3 spatial axes. It is bilinear, and closed: both transposes are
// convolutions with other parameters. In terms of roles (batch, feature, out) the gradient of the
// input runs the window over g with in and out exchanged; that of the window runs g over the input
// with batch and feature exchanged.
#include "spruce/core/cpu/conv/conv.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Array conv_general_bound(const Array& x, const Array& w, const ConvParams& p) {
  return bind1(conv_general_p, {x, w}, Params::make(p));
}

// A transposition that is followed by a reshape: nothing to do where only axes of size 1 move.
Array permuted(const Array& x, const Axes& perm) {
  int64_t last = -1;
  bool moves = false;
  for (const int64_t i : perm) {
    if (x.shape()[i] == 1) continue;
    moves = moves || i < last;
    last = i;
  }
  return moves ? rules::transpose_axes(x, perm) : x;
}

// `x` with the groups, which are the outer part of axis `from`, moved to the outer part of axis
// `to`.
Array move_groups(const Array& x, int from, int to, int64_t groups) {
  Shape split = x.shape();
  split[from] /= groups;
  split.insert(from, groups);
  Axes perm;
  for (int i = 0; i < split.rank(); ++i) {
    if (i != from) perm.push_back(i);
  }
  // Among the axes without that of the groups, `to` keeps its number.
  perm.insert(to, from);
  Shape merged = x.shape();
  merged[from] /= groups;
  merged[to] *= groups;
  return reshape(permuted(reshape(x, split), perm), merged);
}

Array swap_front(const Array& x) {
  Axes perm{1, 0};
  for (int i = 2; i < x.rank(); ++i) perm.push_back(i);
  return rules::transpose_axes(x, perm);
}

void conv_general_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  Array t;
  if (a.tangents[0].defined()) t = bind1(a.p, {a.tangents[0], a.in[1]}, a.params);
  if (a.tangents[1].defined())
    t = rules::add_tangents(t, bind1(a.p, {a.in[0], a.tangents[1]}, a.params));
  a.out_tangents[0] = t;
}

// Batch groups are feature groups of an input whose groups stand with the features.
ConvParams as_feature_groups(const ConvParams& p) {
  ConvParams q = p;
  q.feature_group_count = p.batch_group_count;
  q.batch_group_count = 1;
  return q;
}

// The gradient of the input: x[n, i, u] = sum over o, k of g[n, o, p] w[o, i, k].
Array lhs_gradient(const ConvParams& p, const Array& g, const Array& w, const Aval& lhs) {
  if (p.batch_group_count > 1) {
    // In terms of the input with groups in its features; the window then has to be [out, in /
    // groups], which it is.
    const int batch = p.lhs_swapped ? 1 : 0;
    Aval moved = lhs;
    moved.shape[batch] /= p.batch_group_count;
    moved.shape[1 - batch] *= p.batch_group_count;
    ConvParams q = as_feature_groups(p);
    q.rhs_swapped = false;
    const Array x = lhs_gradient(q, g, p.rhs_swapped ? swap_front(w) : w, moved);
    return move_groups(x, 1 - batch, batch, p.batch_group_count);
  }
  ConvParams q = p;
  q.lhs_swapped = p.out_swapped;
  q.out_swapped = p.lhs_swapped;
  q.rhs_swapped = !p.rhs_swapped;
  q.reversed = !p.reversed;
  q.strides = p.lhs_dilation;
  q.lhs_dilation = p.strides;
  for (int d = 0; d < p.strides.rank(); ++d) {
    const int64_t reach = rules::dilated_size(w.shape()[2 + d], p.rhs_dilation[d]) - 1;
    q.padding_low[d] = reach - p.padding_low[d];
    // Such that the output has the size of the input.
    q.padding_high[d] = rules::dilated_size(lhs.shape[2 + d], p.lhs_dilation[d]) + reach -
                        rules::dilated_size(g.shape()[2 + d], p.strides[d]) - q.padding_low[d];
  }
  return conv_general_bound(g, w, q);
}

// The gradient of the window for one that is not reversed: w[o, i, k] = sum over n, p of x[n, i, .]
// g[n, o, p]. The window of this convolution is g, and its groups are those of the batch.
Array window_gradient_forward(const ConvParams& p, const Array& x, const Array& g,
                              const Aval& rhs) {
  ConvParams q = p;
  q.lhs_swapped = !p.lhs_swapped;
  q.rhs_swapped = !p.out_swapped;
  q.out_swapped = !p.rhs_swapped;
  q.reversed = false;
  q.batch_group_count = p.feature_group_count;
  q.feature_group_count = 1;
  q.strides = p.rhs_dilation;
  q.rhs_dilation = p.strides;
  for (int d = 0; d < p.strides.rank(); ++d) {
    q.padding_high[d] = rules::dilated_size(rhs.shape[2 + d], p.rhs_dilation[d]) +
                        rules::dilated_size(g.shape()[2 + d], p.strides[d]) - 1 -
                        rules::dilated_size(x.shape()[2 + d], p.lhs_dilation[d]) - p.padding_low[d];
  }
  return conv_general_bound(x, g, q);
}

// The same for one that is reversed, with the window of this convolution being x.
Array window_gradient_reversed(const ConvParams& p, const Array& x, const Array& g,
                               const Aval& rhs) {
  ConvParams q = p;
  q.lhs_swapped = !p.out_swapped;
  q.rhs_swapped = !p.lhs_swapped;
  q.out_swapped = p.rhs_swapped;
  q.reversed = false;
  q.batch_group_count = p.feature_group_count;
  q.feature_group_count = 1;
  q.strides = p.rhs_dilation;
  q.lhs_dilation = p.strides;
  q.rhs_dilation = p.lhs_dilation;
  for (int d = 0; d < p.strides.rank(); ++d) {
    const int64_t reach = rules::dilated_size(rhs.shape[2 + d], p.rhs_dilation[d]);
    q.padding_low[d] = reach - 1 - p.padding_low[d];
    q.padding_high[d] = reach + rules::dilated_size(x.shape()[2 + d], p.lhs_dilation[d]) - 1 -
                        rules::dilated_size(g.shape()[2 + d], p.strides[d]) - q.padding_low[d];
  }
  return conv_general_bound(g, x, q);
}

Array window_gradient(const ConvParams& p, const Array& x, const Array& g, const Aval& rhs) {
  if (p.batch_group_count > 1) {
    const int batch = p.lhs_swapped ? 1 : 0;
    ConvParams q = as_feature_groups(p);
    q.rhs_swapped = false;
    Aval outputs_first = rhs;
    if (p.rhs_swapped) std::swap(outputs_first.shape[0], outputs_first.shape[1]);
    const Array w =
        window_gradient(q, move_groups(x, batch, 1 - batch, p.batch_group_count), g, outputs_first);
    return p.rhs_swapped ? swap_front(w) : w;
  }
  // With groups each form gives only one of the two layouts. The other reading of the window is
  // that of the reversed one.
  const bool reversed = p.feature_group_count > 1 ? p.rhs_swapped : p.reversed;
  const Array w =
      reversed ? window_gradient_reversed(p, x, g, rhs) : window_gradient_forward(p, x, g, rhs);
  if (reversed == p.reversed) return w;
  return rules::reverse_axes(w, rules::axis_range(2, w.rank()));
}

void conv_general_transpose_rule(const TransposeArgs& a) {
  const auto& p = a.params.get<ConvParams>();
  if (a.linear(0))
    a.out[0] = lhs_gradient(p, a.cts[0], a.in[1], a.avals[0]);
  else
    a.out[1] = window_gradient(p, a.in[0], a.cts[0], a.avals[1]);
}

// `x` [s, ...] with the mapped axis merged into axis `to` (of x without it), as the outer part.
Array merge(const Array& x, int to) {
  Axes perm = rules::axis_range(1, x.rank());
  perm.insert(to, 0);
  Shape shape = x.shape();
  shape.erase(0);
  shape[to] *= x.shape()[0];
  return reshape(permuted(x, perm), shape);
}

// Undoes merge(), with `inner` outer groups in front of the mapped axis.
Array split(const Array& y, int from, int64_t size, int64_t outer) {
  Shape shape = y.shape();
  const int64_t rest = outer * size == 0 ? 0 : shape[from] / outer / size;
  shape[from] = rest;
  shape.insert(from, size);
  shape.insert(from, outer);
  Axes perm{from + 1};
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != from + 1) perm.push_back(i);
  }
  const Array moved = permuted(reshape(y, shape), perm);
  Shape merged = y.shape();
  merged[from] = outer * rest;
  merged.insert(0, size);
  return reshape(moved, merged);
}

// The mapped axis of x [s, ...] between `groups` outer groups of axis `to` and the rest of it.
Array merge_within(const Array& x, int to, int64_t groups) {
  if (groups == 1) return merge(x, to);
  const int64_t size = x.shape()[0];
  Shape shape = x.shape();
  shape[to + 1] /= groups;
  shape.insert(to + 1, groups);
  Axes perm = rules::axis_range(1, shape.rank());
  perm.insert(to + 1, 0);
  Shape merged = x.shape();
  merged.erase(0);
  merged[to] *= size;
  return reshape(permuted(reshape(x, shape), perm), merged);
}

void conv_general_batch(const BatchArgs& a) {
  const auto& p = a.params.get<ConvParams>();
  const int batch_axis = p.lhs_swapped ? 1 : 0, out_axis = p.rhs_swapped ? 1 : 0;
  const int y_batch = p.out_swapped ? 1 : 0, y_feature = 1 - y_batch;
  const Array &x = a.in[0], &w = a.in[1];
  if (a.size == 0) {
    // Nothing to compute; only the type of the result is asked for.
    Aval lhs = x.aval(), rhs = w.aval();
    if (a.batched[0]) lhs.shape.erase(0);
    if (a.batched[1]) rhs.shape.erase(0);
    const Aval* in[] = {&lhs, &rhs};
    Aval out = a.p.shape({a.p.name, in, a.params});
    out.device = lhs.device;
    out.shape.insert(0, 0);
    a.out[0] = rules::zeros_of(out);
  } else if (!a.batched[1]) {
    const Array y = conv_general_bound(merge_within(x, batch_axis, p.batch_group_count), w, p);
    a.out[0] = split(y, y_batch, a.size, 1);
  } else if (!a.batched[0]) {
    // More outputs for the same input. In a window with groups in its inputs they are the inner
    // part of each group.
    const bool inner = p.rhs_swapped && p.batch_group_count == 1;
    const int64_t groups = p.feature_group_count * p.batch_group_count;
    const Array y = conv_general_bound(x, merge_within(w, out_axis, inner ? 1 : groups), p);
    a.out[0] = split(y, y_feature, a.size, groups);
  } else if (p.batch_group_count > 1) {
    ConvParams q = p;
    q.batch_group_count *= a.size;
    a.out[0] = split(conv_general_bound(merge(x, batch_axis), merge(w, out_axis), q), y_feature,
                     a.size, 1);
  } else {
    // One more level of groups, in the first axis of the window whichever it is.
    ConvParams q = p;
    q.feature_group_count *= a.size;
    a.out[0] =
        split(conv_general_bound(merge(x, 1 - batch_axis), merge(w, 0), q), y_feature, a.size, 1);
  }
}

}  // namespace

extern constinit const Primitive conv_general_p = {
    .name = "conv_general",
    .shape = rules::conv_shape,
    .cpu = cpu::conv_kernel,
    .jvp = conv_general_jvp,
    .transpose = conv_general_transpose_rule,
    .batch = conv_general_batch,
    .samples = rules::conv_samples,
    .params = kParamsOf<ConvParams>,
    .prepare = cpu::prepare_conv,
    .flops = rules::conv_flops,
    .rows = cpu::rows_of_conv,
};

}  // namespace spruce
