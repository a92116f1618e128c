// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/tiny_moves.h"

#include <algorithm>
#include <string_view>

#include "spruce/core/rules/shape.h"

namespace spruce::cpu::x64 {
namespace {

using Origins = std::vector<Origin>;

// The origins of an output for which f gives the index in the only input.
template <class F>
Origins from_input(const Shape& in, const Shape& out, F f) {
  Origins all;
  for_each_index(out, [&](const Shape& index) { all.push_back({0, place(in, f(index))}); });
  return all;
}

Origins in_order(const Shape& out) {
  Origins all;
  for (int64_t i = 0; i < out.numel(); ++i) all.push_back({0, i});
  return all;
}

Origins broadcast(const BroadcastInDimParams& p, const Shape& in) {
  return from_input(in, p.shape, [&](const Shape& index) {
    Shape from = in;
    for (int i = 0; i < in.rank(); ++i)
      from[i] = in[i] == 1 ? 0 : index[static_cast<int>(p.broadcast_dimensions[i])];
    return from;
  });
}

Origins transpose(const TransposeParams& p, const Shape& in, const Shape& out) {
  return from_input(in, out, [&](const Shape& index) {
    Shape from = in;
    for (int i = 0; i < in.rank(); ++i) from[static_cast<int>(p.perm[i])] = index[i];
    return from;
  });
}

Origins slice(const SliceParams& p, const Shape& in, const Shape& out) {
  return from_input(in, out, [&](const Shape& index) {
    Shape from = in;
    for (int i = 0; i < in.rank(); ++i) from[i] = p.start[i] + index[i] * p.stride[i];
    return from;
  });
}

Origins reverse(const ReverseParams& p, const Shape& in) {
  return from_input(in, in, [&](const Shape& index) {
    Shape from = index;
    for (const int64_t axis : p.axes) {
      const int i = static_cast<int>(axis);
      from[i] = in[i] - 1 - index[i];
    }
    return from;
  });
}

Origins concatenate(const ConcatenateParams& p, const std::vector<Shape>& in, const Shape& out) {
  Origins all;
  const int axis = static_cast<int>(p.axis);
  for_each_index(out, [&](const Shape& index) {
    Shape from = index;
    int which = 0;
    while (from[axis] >= in[static_cast<size_t>(which)][axis])
      from[axis] -= in[static_cast<size_t>(which++)][axis];
    all.push_back({which, place(in[static_cast<size_t>(which)], from)});
  });
  return all;
}

Origins pad(const PadParams& p, const Shape& in, const Shape& out) {
  Origins all;
  for_each_index(out, [&](const Shape& index) {
    Shape from = index;
    bool inside = true;
    for (int i = 0; i < in.rank(); ++i) {
      const int64_t at = index[i] - p.low[i], step = p.interior[i] + 1;
      inside = inside && at >= 0 && at % step == 0 && at / step < in[i];
      from[i] = at / step;
    }
    all.push_back(inside ? Origin{0, place(in, from)} : Origin{1, 0});
  });
  return all;
}

}  // namespace

std::vector<int64_t> broadcast_elements(const Shape& from, const Shape& to) {
  std::vector<int64_t> all;
  for_each_index(to, [&](const Shape& index) {
    Shape at = from;
    for (int i = 0; i < from.rank(); ++i)
      at[i] = from[i] == 1 ? 0 : index[to.rank() - from.rank() + i];
    all.push_back(place(from, at));
  });
  return all;
}

std::optional<std::vector<Origin>> origins(const Graph& graph, const Equation& equation) {
  const std::string_view name = equation.primitive->name;
  if (equation.inputs.empty() || equation.outputs.size() != 1) return std::nullopt;
  std::vector<Shape> in;
  for (const ValueId v : equation.inputs) in.push_back(graph.avals[static_cast<size_t>(v)].shape);
  const Shape& out = graph.avals[static_cast<size_t>(equation.outputs[0])].shape;
  const Params& p = equation.params;
  if (name == "reshape" || name == "copy" || name == "stop_gradient") return in_order(out);
  if (name == "broadcast_in_dim") return broadcast(p.get<BroadcastInDimParams>(), in[0]);
  if (name == "transpose") return transpose(p.get<TransposeParams>(), in[0], out);
  if (name == "slice") return slice(p.get<SliceParams>(), in[0], out);
  if (name == "rev") return reverse(p.get<ReverseParams>(), in[0]);
  if (name == "concatenate") return concatenate(p.get<ConcatenateParams>(), in, out);
  if (name == "pad") return pad(p.get<PadParams>(), in[0], out);
  return std::nullopt;
}

}  // namespace spruce::cpu::x64
