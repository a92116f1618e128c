// SPDX-License-Identifier: Apache-2.0
// Arrays joined along one axis.
#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/parallel.h"
#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval shape(const ShapeArgs& a) {
  if (a.in.empty())
    throw ValueError(std::string(a.op) + ": there are no arrays to join; give at least one");
  Aval out = *a.in[0];
  const int axis =
      rules::settled_axis(a.op, a.params.get<ConcatenateParams>().axis, out.shape.rank());
  for (size_t k = 1; k < a.in.size(); ++k) {
    const Aval& x = *a.in[k];
    if (x.dtype != out.dtype) {
      throw DtypeError(std::string(a.op) + ": the dtypes of " + to_string(*a.in[0]) + " and " +
                       to_string(x) + " differ; convert one with astype");
    }
    bool ok = x.shape.rank() == out.shape.rank();
    for (int i = 0; ok && i < x.shape.rank(); ++i) ok = i == axis || x.shape[i] == out.shape[i];
    if (!ok) {
      throw ShapeError(std::string(a.op) + ": " + to_string(*a.in[0]) + " and " + to_string(x) +
                       " (array " + std::to_string(k) + ") do not join along axis " +
                       std::to_string(axis) + "; all other sizes must be equal");
    }
    if (__builtin_add_overflow(out.shape[axis], x.shape[axis], &out.shape[axis]))
      check_shape(a.op, Shape{-1});
    out.weak = out.weak && x.weak;
  }
  check_shape(a.op, out.shape, size_of(out.dtype));
  return out;
}

// Each row of the output is one of each input.
void kernel(const KernelArgs& a) {
  const View& y = a.out[0];
  if (y.numel() == 0) return;
  const auto axis = static_cast<int>(a.params.get<ConcatenateParams>().axis);
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= y.shape()[i];
  const int64_t row = y.aval->bytes() / outer, grain = 1 << 19;
  if (outer == 1) {
    char* to = y.as<char>();
    for (const View& x : a.in) {
      cpu::parallel_for(x.aval->bytes(), grain, [&](int64_t begin, int64_t end) {
        std::memcpy(to + begin, x.as<char>() + begin, static_cast<size_t>(end - begin));
      });
      to += x.aval->bytes();
    }
    return;
  }
  cpu::parallel_pieces(outer, std::max<int64_t>(1, grain / row), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      char* to = y.as<char>() + o * row;
      for (const View& x : a.in) {
        const int64_t bytes = x.aval->bytes() / outer;
        if (bytes > 0) std::memcpy(to, x.as<char>() + o * bytes, static_cast<size_t>(bytes));
        to += bytes;
      }
    }
  });
}

void transpose(const TransposeArgs& a) {
  const auto axis = static_cast<int>(a.params.get<ConcatenateParams>().axis);
  int64_t at = 0;
  for (size_t k = 0; k < a.in.size(); ++k) {
    const int64_t n = a.avals[k].shape[axis];
    if (a.linear(k)) a.out[k] = rules::slice_axis(a.cts[0], axis, at, at + n);
    at += n;
  }
}

void batch(const BatchArgs& a) {
  std::vector<Array> in(a.in.size());
  for (size_t k = 0; k < in.size(); ++k)
    in[k] = rules::materialize_batch(a.in[k], a.batched[k], a.size);
  a.out[0] =
      bind1(a.p, in, Params::make(ConcatenateParams{a.params.get<ConcatenateParams>().axis + 1}));
}

std::vector<Sample> samples() {
  const auto sample = [](const std::vector<Shape>& shapes, int64_t axis) {
    return rules::sample_of(shapes, Dtype::kFloat32, Params::make(ConcatenateParams{axis}));
  };
  return {sample({{3}, {2}}, 0),
          sample({{2, 3}, {1, 3}, {2, 3}}, 0),
          sample({{2, 3}, {2, 1}}, 1),
          sample({{2, 0}, {2, 2}}, 1),
          sample({{4}}, 0),
          sample({{2, 1, 2}, {2, 2, 2}}, 1)};
}

}  // namespace

extern constinit const Primitive concatenate_p = {
    .name = "concatenate",
    .shape = shape,
    .cpu = kernel,
    .jvp = rules::jvp_linear,
    .transpose = transpose,
    .batch = batch,
    .samples = samples,
    .params = kParamsOf<ConcatenateParams>,
    .flops = rules::no_flops,
};

}  // namespace spruce
