// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/reduce.h"

#include <algorithm>
#include <vector>

#include "spruce/core/cpu/loops.h"
#include "spruce/core/cpu/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kDenseBlock = 2048;   // elements of a dense row that are reduced together
constexpr int64_t kNarrowBlock = 1024;  // short rows
constexpr int64_t kWideBlock = 64;      // rows of which each is long enough for vectors
constexpr int64_t kTile = 2048;     // accumulators side by side that stay in the first-level cache
constexpr int64_t kGrain = 131072;  // elements that are worth a thread of their own

using Scratch = std::unique_ptr<char[]>;

Scratch scratch(int64_t bytes) { return Scratch(new char[static_cast<size_t>(bytes) + 1]); }

// to[o, i] = the reduction over k of from[o, k, i].
void reduce_middle(const char* from, int64_t from_bytes, char* to, int64_t outer, int64_t n,
                   int64_t inner, ReduceLoop loop, const ReduceLoops& loops) {
  const int64_t bytes = loops.accumulator_bytes;
  const int64_t block = inner == 1 ? kDenseBlock : inner <= 16 ? kNarrowBlock : kWideBlock;
  const int64_t blocks = std::max<int64_t>(1, (n + block - 1) / block),
                tiles = (inner + kTile - 1) / kTile;
  Scratch partial;
  char* results = to;
  if (blocks > 1) {
    partial = scratch(outer * blocks * inner * bytes);
    results = partial.get();
  }
  const int64_t work = std::max<int64_t>(1, std::min(n, block) * std::min(inner, kTile));
  parallel_pieces(outer * blocks * tiles, std::max<int64_t>(1, kGrain / work),
                  [&](int64_t begin, int64_t end) {
                    if (blocks == 1 && tiles == 1) {
                      loop(from + begin * n * inner * from_bytes, results + begin * inner * bytes,
                           end - begin, n, inner, inner);
                      return;
                    }
                    for (int64_t piece = begin; piece < end; ++piece) {
                      const int64_t column = piece % tiles * kTile, which = piece / tiles;
                      const int64_t row = which % blocks * block, o = which / blocks;
                      loop(from + ((o * n + row) * inner + column) * from_bytes,
                           results + (which * inner + column) * bytes, 1, std::min(block, n - row),
                           inner, std::min(kTile, inner - column));
                    }
                  });
  if (blocks > 1) reduce_middle(results, bytes, to, outer, blocks, inner, loops.next, loops);
}

// Axes merged into runs that are all reduced or all kept, outermost first.
struct Run {
  int64_t size;
  bool reduced;
};

std::vector<Run> runs_of(const Shape& shape, const Axes& axes) {
  std::vector<Run> runs;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    const bool reduced = axes.contains(i);
    if (!runs.empty() && runs.back().reduced == reduced)
      runs.back().size *= shape[i];
    else
      runs.push_back({shape[i], reduced});
  }
  if (std::none_of(runs.begin(), runs.end(), [](const Run& r) { return r.reduced; }))
    runs.push_back({1, true});
  return runs;
}

}  // namespace

void run_reduce(const View& from, const Axes& axes, void* to, const ReduceLoops& loops) {
  if (internal::loop_recorder != nullptr) {
    internal::loop_recorder->reduce = loops;
    return;
  }
  std::vector<Run> runs = runs_of(from.shape(), axes);
  int64_t kept = 1, passes = 0;
  for (const Run& r : runs) {
    if (r.reduced)
      ++passes;
    else
      kept *= r.size;
  }
  if (kept == 0) return;
  const char* source = static_cast<const char*>(from.data);
  int64_t source_bytes = size_of(from.dtype());
  ReduceLoop loop = loops.first;
  Scratch held;
  int64_t inner = 1;
  for (size_t k = runs.size(); k-- > 0;) {
    if (!runs[k].reduced) {
      inner *= runs[k].size;
      continue;
    }
    int64_t outer = 1;
    for (size_t i = 0; i < k; ++i) outer *= runs[i].size;
    Scratch result;
    char* target = static_cast<char*>(to);
    if (--passes > 0) {
      result = scratch(outer * inner * loops.accumulator_bytes);
      target = result.get();
    }
    reduce_middle(source, source_bytes, target, outer, runs[k].size, inner, loop, loops);
    held = std::move(result);
    source = target;
    source_bytes = loops.accumulator_bytes;
    loop = loops.next;
  }
}

}  // namespace spruce::cpu
