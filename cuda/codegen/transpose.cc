// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/transpose.h"

#include <algorithm>

#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kTile = 32, kTileRows = 8;

constexpr std::string_view kTiles = R"cuda(
namespace sp {
// A tile of 32 x 32 values of n neighbours each. Its rows stand `step` elements apart where they are
// read, its columns where they are written; `across` by `down` of the values exist.
template <class T, int n>
SP void read_tile(Pack<T, n> (&tile)[32][33], const T* from, i64 step, i64 across, i64 down) {
#pragma unroll
  for (int rows = 0; rows < 32; rows += 8) {
    const int r = rows + int(threadIdx.y);
    if (threadIdx.x < across && r < down)
      move<n>(from + threadIdx.x * n + r * step, tile[r][threadIdx.x].v);
  }
}
template <class T, int n>
SP void write_tile(const Pack<T, n> (&tile)[32][33], T* to, i64 step, i64 across, i64 down) {
#pragma unroll
  for (int rows = 0; rows < 32; rows += 8) {
    const int r = rows + int(threadIdx.y);
    if (threadIdx.x < down && r < across)
      move<n>(tile[threadIdx.x][r].v, to + threadIdx.x * n + r * step);
  }
}
// A tile of 32 x 32 words in each direction, n elements a word: row r of elements stands at
// [r % n][r / n], so that threads side by side meet different banks. Words that are not whole in
// memory, or stand at no multiple of one, are read and written by the element.
template <class T> SP bool whole_words(const T* at, i64 step, i64 size) {
  return ((u64(at) | u64(step | size) * sizeof(T)) & 3) == 0;
}
template <class T, int n>
SP void read_tile(u32 (&tile)[n][32][33], const T* from, i64 step, i64 across, i64 down) {
  const bool whole = whole_words(from, step, across);
  const i64 there = across - threadIdx.x * n;
  from += threadIdx.x * n;
  if (whole) {
#pragma unroll 8
    for (int r = threadIdx.y; r < 32 * n; r += 8) {
      if (there > 0 && r < down) tile[r % n][r / n][threadIdx.x] = *(const u32*)(from + r * step);
    }
  } else {
#pragma unroll 2
    for (int r = threadIdx.y; r < 32 * n; r += 8) {
      u32 word = 0;
#pragma unroll
      for (int j = 0; j < n; ++j) {
        if (j < there && r < down) word |= u32(from[r * step + j]) << (32 / n * j);
      }
      tile[r % n][r / n][threadIdx.x] = word;
    }
  }
}
template <class T, int n>
SP void write_tile(const u32 (&tile)[n][32][33], T* to, i64 step, i64 across, i64 down) {
  const bool whole = whole_words(to, step, down);
  const i64 there = down - threadIdx.x * n;
  to += threadIdx.x * n;
#pragma unroll 1
  for (int c = threadIdx.y; c < 32; c += 8) {
    u32 rows[n];
#pragma unroll
    for (int j = 0; j < n; ++j) rows[j] = tile[j][threadIdx.x][c];
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const int a = c * n + k;
      if (a >= across || there <= 0) continue;
      u32 word = 0;
#pragma unroll
      for (int j = 0; j < n; ++j) word |= u32(T(rows[j] >> (32 / n * k))) << (32 / n * j);
      if (whole) {
        *(u32*)(to + a * step) = word;
      } else {
#pragma unroll
        for (int j = 0; j < n; ++j) {
          if (j < there) to[a * step + j] = T(word >> (32 / n * j));
        }
      }
    }
  }
}
}  // namespace sp
)cuda";

}  // namespace

int transposed_axis(const Walk& walk, int64_t count) {
  if (walk.axes.size() < 2) return -1;
  const Walk::Axis& inner = walk.axes.back();
  if (inner.steps[0] == count || inner.steps[1] != count || inner.size < 8) return -1;
  for (size_t a = 0; a + 1 < walk.axes.size(); ++a) {
    if (walk.axes[a].steps[0] == count && walk.axes[a].size >= 8) return static_cast<int>(a);
  }
  return -1;
}

void transpose_kernel(KernelBuilder& kernel, Transpose copy, int axis, Kernels& out) {
  // The two axes of a tile: a row of it is dense in `from`, a column in `to`.
  const Walk::Axis across = copy.walk.axes[static_cast<size_t>(axis)], down = copy.walk.axes.back();
  copy.walk.axes.pop_back();
  copy.walk.axes.erase(copy.walk.axes.begin() + axis);
  // Small elements by words, where both axes have a tile of them.
  const int64_t in_word = copy.count == 1 && copy.bytes < 4 ? 4 / copy.bytes : 1,
                words = std::min(across.size, down.size) >= 64 ? in_word : 1, edge = kTile * words;
  const int64_t tiles_across = (across.size + edge - 1) / edge,
                tiles_down = (down.size + edge - 1) / edge,
                tiles = tiles_across * tiles_down * copy.walk.size();
  kernel.value("across", across.size);
  kernel.value("down", down.size);
  kernel.value("down_step", down.steps[0]);
  kernel.value("across_step", across.steps[1]);
  kernel.value("tiles_across", tiles_across);
  kernel.value("tiles_down", tiles_down);
  kernel.value("tiles", tiles);
  kernel.front(kTiles);
  const std::string type = counting_type(tiles), size = std::to_string(edge),
                    count = std::to_string(copy.count);
  std::string text = "  __shared__ ";
  text += words > 1 ? "sp::u32 tile[" + std::to_string(words) + "]"
                    : "sp::Pack<" + std::string(bits_type(copy.bytes)) + ", " + count + "> tile";
  text += "[32][33];\n#pragma unroll 1\n  for (" + type + " i = blockIdx.x; i < " + type +
          "(tiles); i += gridDim.x) {\n    const " + type + " row = i / " + type +
          "(tiles_across), which = row / " + type +
          "(tiles_down);\n    const sp::i64 a = sp::i64(i - row * " + type + "(tiles_across)) * " +
          size + ", d = sp::i64(row - which * " + type + "(tiles_down)) * " + size +
          ";\n    sp::i64 p = p0 + a * " + count +
          " + d * down_step, q = q0 + a * across_step + d * " + count + ";\n";
  text += copy.walk.places(kernel, "a", "which", {"p", "q"});
  text +=
      "    sp::read_tile(tile, " + copy.x +
      " + p, down_step, across - a, down - d);\n    __syncthreads();\n    sp::write_tile(tile, " +
      copy.y + " + q, across_step, across - a, down - d);\n    __syncthreads();\n  }\n";
  out.steps.push_back(kernel.launch(text, {std::min(tiles, kMostBlocks)}, {kTile, kTileRows}));
}

}  // namespace spruce::cuda
