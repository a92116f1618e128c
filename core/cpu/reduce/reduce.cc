// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/reduce/reduce.h"

#include <algorithm>

#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kDenseBlock = 8192;   // elements of a dense row that are reduced together
constexpr int64_t kNarrowBlock = 1024;  // short rows
constexpr int64_t kTile = 2048;     // accumulators side by side that stay in the first-level cache
constexpr int64_t kGrain = 131072;  // elements that are worth a thread of their own
constexpr size_t kNear = 4096;      // bytes of results of blocks that stand on the stack

// How an axis is cut where `inner` elements follow each of its rows.
struct Blocks {
  Blocks(int64_t n, int64_t inner)
      : size(inner == 1    ? kDenseBlock
             : inner <= 16 ? kNarrowBlock
                           : kReducedRows),
        count(std::max<int64_t>(1, (n + size - 1) / size)) {}
  int64_t size, count;
};

// to[o, i] = the reduction over k of from[o, k, i].
struct Pass {
  int64_t outer, n, inner;

  Pass over(int64_t blocks) const { return {outer, blocks, inner}; }
  // Bytes of the results of the blocks; none where there is but one block.
  size_t partial_bytes(int64_t blocks, int64_t accumulator_bytes) const {
    return blocks == 1 ? 0 : static_cast<size_t>(outer * blocks * inner * accumulator_bytes);
  }
  // Of those that are too many for the stack.
  size_t far_bytes(int64_t blocks, int64_t accumulator_bytes) const {
    const size_t bytes = partial_bytes(blocks, accumulator_bytes);
    return bytes > kNear ? bytes : 0;
  }
  // What reduce_middle takes of a region.
  size_t workspace(int64_t accumulator_bytes) const {
    size_t sum = 0;
    for (int64_t left = n, blocks; (blocks = Blocks(left, inner).count) > 1; left = blocks)
      sum += workspace_size(far_bytes(blocks, accumulator_bytes));
    return sum;
  }
};

void reduce_middle(const char* from, int64_t from_bytes, char* to, const Pass& pass,
                   ReduceLoop loop, const ReduceLoops& loops) {
  const int64_t outer = pass.outer, n = pass.n, inner = pass.inner;
  const int64_t bytes = loops.accumulator_bytes;
  const Blocks cut(n, inner);
  const int64_t block = cut.size, blocks = cut.count, tiles = (inner + kTile - 1) / kTile;
  alignas(64) char near[kNear];
  const Workspace far(pass.far_bytes(blocks, bytes));
  char* const results = blocks == 1 ? to : far.data() == nullptr ? near : far.as<char>();
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
  if (blocks > 1) reduce_middle(results, bytes, to, pass.over(blocks), loops.next, loops);
}

// The axes one after the other, innermost first. Neighbours that are all reduced or all kept are
// one.
struct Passes {
  Passes(const Shape& shape, const Axes& axes, int64_t bytes) : accumulator_bytes(bytes) {
    struct Run {
      int64_t size;
      bool reduced;
    };
    Run runs[kMaxRank + 1];
    int count_runs = 0;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] == 1) continue;
      const bool reduced = axes.contains(i);
      if (count_runs > 0 && runs[count_runs - 1].reduced == reduced)
        runs[count_runs - 1].size *= shape[i];
      else
        runs[count_runs++] = {shape[i], reduced};
    }
    if (std::none_of(runs, runs + count_runs, [](const Run& r) { return r.reduced; }))
      runs[count_runs++] = {1, true};
    for (int k = count_runs; k-- > 0;) {
      if (!runs[k].reduced) {
        kept *= runs[k].size;
        continue;
      }
      Pass& pass = all[count++] = {1, runs[k].size, kept};
      for (int i = 0; i < k; ++i) pass.outer *= runs[i].size;
    }
  }

  // Bytes of the results of the passes 0, 2, 4, ... or 1, 3, 5, ...; the last one has its own
  // memory.
  size_t held_bytes(int first) const {
    int64_t most = 0;
    for (int i = first; i + 1 < count; i += 2)
      most = std::max(most, all[i].outer * all[i].inner * accumulator_bytes);
    return static_cast<size_t>(most);
  }
  // What run_reduce takes of a region.
  size_t workspace() const {
    if (kept == 0) return 0;
    size_t most = 0;
    for (int i = 0; i < count; ++i) most = std::max(most, all[i].workspace(accumulator_bytes));
    return workspace_size(held_bytes(0)) + workspace_size(held_bytes(1)) + most;
  }

  int64_t accumulator_bytes;
  Pass all[kMaxRank];
  int count = 0;
  int64_t kept = 1;  // elements of the result
};

// Reduces over `axes`, which rise, of `from`; `to` holds accumulators.
void run_reduce(const View& from, const Axes& axes, void* to, const ReduceLoops& loops) {
  const Passes passes(from.shape(), axes, loops.accumulator_bytes);
  if (passes.kept == 0) return;
  const Workspace even(passes.held_bytes(0)), odd(passes.held_bytes(1));
  const char* source = static_cast<const char*>(from.data);
  int64_t source_bytes = size_of(from.dtype());
  ReduceLoop loop = loops.first;
  for (int i = 0; i < passes.count; ++i) {
    char* const target = i + 1 == passes.count ? static_cast<char*>(to)
                         : i % 2 == 0          ? even.as<char>()
                                               : odd.as<char>();
    reduce_middle(source, source_bytes, target, passes.all[i], loop, loops);
    source = target;
    source_bytes = loops.accumulator_bytes;
    loop = loops.next;
  }
}

// Bytes of the results of halves, which are reduced as floats.
size_t wide_bytes(int64_t results) { return static_cast<size_t>(results) * sizeof(float); }

}  // namespace

void run_reduction(const KernelArgs& args, const ReduceLoops& loops) {
  const View &x = args.in[0], &y = args.out[0];
  const Axes& axes = args.params.get<ReduceParams>().axes;
  if (!is_half(x.dtype())) return run_reduce(x, axes, y.data, loops);
  const Workspace wide(wide_bytes(y.numel()));
  run_reduce(x, axes, wide.data(), loops);
  if (y.dtype() == Dtype::kFloat16)
    narrow(wide.as<float>(), y.as<Float16>(), y.numel());
  else
    narrow(wide.as<float>(), y.as<Bfloat16>(), y.numel());
}

size_t reduce_workspace(const PrepareArgs& args) {
  const Aval &x = *args.in[0], &y = *args.out[0];
  const Axes& axes = args.params.get<ReduceParams>().axes;
  if (!is_half(x.dtype)) return Passes(x.shape, axes, size_of(x.dtype)).workspace();
  return workspace_size(wide_bytes(y.shape.numel())) +
         Passes(x.shape, axes, sizeof(float)).workspace();
}

}  // namespace spruce::cpu
