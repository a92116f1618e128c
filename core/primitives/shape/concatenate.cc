// SPDX-License-Identifier: Apache-2.0
// Arrays joined along one axis.
#include <algorithm>

#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/cpu/runs.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

constexpr int64_t kGrainBytes = 1 << 19;  // bytes that are worth a thread of their own

Aval concatenate_shape(const ShapeArgs& a) {
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

// Rows of the output begin..end, each one of each input. Short ones are written input by input, for
// so many rows at a time that they stay in the cache.
void join_rows(const KernelArgs& a, int64_t row, int64_t outer, int64_t begin, int64_t end) {
  constexpr int64_t kCacheBytes = 1 << 14;
  const int64_t most = std::max<int64_t>(1, kCacheBytes / row);
  for (int64_t o = begin; o < end; o += most) {
    const int64_t count = std::min(most, end - o);
    char* to = a.out[0].as<char>() + o * row;
    for (const View& x : a.in) {
      const int64_t bytes = x.aval->bytes() / outer;
      cpu::copy_runs(to, row, x.as<char>() + o * bytes, bytes, bytes, count);
      to += bytes;
    }
  }
}

// Inputs that give one element of 1, 2, 4 or 8 bytes each to a row.
bool join_elements(const KernelArgs& a, int64_t row, int64_t outer) {
  const auto parts = static_cast<int64_t>(a.in.size());
  const int64_t bytes = row / parts;
  if (parts < cpu::kFewestParts || parts > cpu::kMostParts ||
      (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
    return false;
  for (const View& x : a.in) {
    if (x.aval->bytes() != bytes * outer) return false;
  }
  cpu::parallel_for(outer, kGrainBytes / row, [&](int64_t begin, int64_t end) {
    const void* from[cpu::kMostParts] = {};
    for (size_t k = 0; k < a.in.size(); ++k) from[k] = a.in[k].as<char>() + begin * bytes;
    cpu::interleave(a.out[0].as<char>() + begin * row, from, parts, bytes, end - begin);
  });
  return true;
}

// Inputs that give a few bytes each to a row.
bool join_short(const KernelArgs& a, int64_t row, int64_t outer) {
  int64_t bytes[cpu::kMostPieces];
  const char* from[cpu::kMostPieces];
  int64_t pieces = 0;
  for (const View& x : a.in) {
    const int64_t n = x.aval->bytes() / outer;
    if (n == 0) continue;
    if (n > cpu::kShortPieceBytes || pieces == cpu::kMostPieces) return false;
    bytes[pieces] = n, from[pieces++] = x.as<char>();
  }
  cpu::parallel_pieces(outer, kGrainBytes / row, [&](int64_t begin, int64_t end) {
    const char* part[cpu::kMostPieces];
    for (int64_t k = 0; k < pieces; ++k) part[k] = from[k] + begin * bytes[k];
    cpu::join_short(a.out[0].as<char>() + begin * row, part, bytes, pieces, end - begin);
  });
  return true;
}

// Where inputs, or the output, have strides.
void join_strided(const KernelArgs& a, int axis) {
  const View& y = a.out[0];
  const Shape to = y.steps();
  int64_t offset = 0;
  for (const View& x : a.in) {
    cpu::copy_strided(x.shape(), {cpu::advance(y.data, offset, size_of(y.dtype())), to},
                      {x.data, x.steps()}, size_of(y.dtype()));
    offset += x.shape()[axis] * to[axis];
  }
}

void concatenate_kernel(const KernelArgs& a) {
  const View& y = a.out[0];
  if (y.numel() == 0) return;
  const auto axis = static_cast<int>(a.params.get<ConcatenateParams>().axis);
  const auto strided = [](const View& v) { return v.strides != nullptr; };
  if (strided(y) || std::any_of(a.in.begin(), a.in.end(), strided)) return join_strided(a, axis);
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= y.shape()[i];
  const int64_t row = y.aval->bytes() / outer;
  if (outer == 1) {
    char* to = y.as<char>();
    for (const View& x : a.in) {
      cpu::parallel_for(x.aval->bytes(), kGrainBytes, [&](int64_t begin, int64_t end) {
        cpu::copy_bytes(to + begin, x.as<char>() + begin, end - begin);
      });
      to += x.aval->bytes();
    }
    return;
  }
  if (join_elements(a, row, outer) || join_short(a, row, outer)) return;
  cpu::parallel_pieces(outer, std::max<int64_t>(1, kGrainBytes / row),
                       [&](int64_t begin, int64_t end) { join_rows(a, row, outer, begin, end); });
}

std::vector<IndexMap> concatenate_maps(const PrepareArgs& a) {
  const int64_t axis = a.params.get<ConcatenateParams>().axis;
  std::vector<IndexMap> maps;
  int64_t begin = 0;
  for (size_t k = 0; k < a.in.size(); ++k) {
    IndexMap& m = maps.emplace_back(rules::identity_map(a.in[k]->shape));
    m.input = k;
    m.begin[axis] = begin;
    begin += m.count[axis];
  }
  return maps;
}

void concatenate_transpose(const TransposeArgs& a) {
  const auto axis = static_cast<int>(a.params.get<ConcatenateParams>().axis);
  int64_t at = 0;
  for (size_t k = 0; k < a.in.size(); ++k) {
    const int64_t n = a.avals[k].shape[axis];
    if (a.linear(k)) a.out[k] = rules::slice_axis(a.cts[0], axis, at, at + n);
    at += n;
  }
}

void concatenate_batch(const BatchArgs& a) {
  std::vector<Array> in(a.in.size());
  for (size_t k = 0; k < in.size(); ++k)
    in[k] = rules::materialize_batch(a.in[k], a.batched[k], a.size);
  a.out[0] =
      bind1(a.p, in, Params::make(ConcatenateParams{a.params.get<ConcatenateParams>().axis + 1}));
}

std::vector<Sample> concatenate_samples() {
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

rules::RowReads concatenate_rows(const RowArgs& a) {
  if (a.params.get<ConcatenateParams>().axis == 0) return {};
  return rules::rows_alike(a);
}

}  // namespace

extern constinit const Primitive concatenate_p = {
    .name = "concatenate",
    .shape = concatenate_shape,
    .cpu = concatenate_kernel,
    .jvp = rules::jvp_linear,
    .transpose = concatenate_transpose,
    .batch = concatenate_batch,
    .samples = concatenate_samples,
    .params = kParamsOf<ConcatenateParams>,
    .kind = PrimitiveKind::kMove,
    .takes_strides = rules::any_strides,
    .index_maps = concatenate_maps,
    .flops = rules::no_flops,
    .rows = concatenate_rows,
};

}  // namespace spruce
