// SPDX-License-Identifier: Apache-2.0
// c is computed by blocks of 32 rows and 32 columns, four tiles of the processor, in blocks of the
// sum. A group of columns of b, packed by pairs of terms, stays in the second cache and the rows of
// a pass by it, packed 32 rows high, which stay in the first.
#include "spruce/core/cpu/gemm/gemm_amx.h"

#include "spruce/core/cpu/targets.h"

#if SPRUCE_HAS_X86_TARGETS && defined(__linux__)
#define SPRUCE_HAS_AMX 1
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#define SPRUCE_HAS_AMX 0
#endif

#if SPRUCE_HAS_AMX

#include <algorithm>
#include <cstring>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/gemm/gemm_pack.h"
#include "spruce/core/cpu/gemm/gemm_parts.h"
#include "spruce/core/cpu/gemm/gemm_tiles.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

using simd::Bf16Pair;

constexpr int64_t kSide = 32;           // rows and columns of a block of c, terms of a step
constexpr int64_t kPairs = kSide / 2;   // of a step
constexpr int64_t kWholeDepth = 640;    // terms of a sum that are one block
constexpr int64_t kDepth = 512;         // of a block of a longer one, at most
constexpr int64_t kGroup = 512 << 10;   // elements of a group of columns of b
constexpr int64_t kLeast = 8;           // rows, columns
constexpr double kLeastWork = 1 << 14;  // multiply-adds

#define SPRUCE_TARGET_AMX __attribute__((target("avx512f,amx-tile,amx-bf16")))

struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The tiles of this thread are ours while one of these lives.
class Tiles {
 public:
  SPRUCE_TARGET_AMX Tiles() {
    // In memory that stands already: the compiler takes the instruction to read a pointer of it.
    static constexpr Config kConfig;
    _tile_loadconfig(&kConfig);
  }
  SPRUCE_TARGET_AMX ~Tiles() { _tile_release(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

// c = a b for `steps` steps of the sum: a as [steps, 32, 32] elements, b as [steps * 16, 32] pairs.
// c is [32, 32]; without the lower (right) half where kTall (kWide) is false.
template <bool kTall, bool kWide>
SPRUCE_TARGET_AMX void block(int64_t steps, const Bfloat16* a, const Bf16Pair* b, float* c) {
  asm volatile("" ::: "memory");  // tiles are loaded behind the compiler's back
  _tile_zero(0);
  if (kWide) _tile_zero(1);
  if (kTall) _tile_zero(2);
  if (kTall && kWide) _tile_zero(3);
  for (int64_t s = 0; s < steps; ++s, a += kSide * kSide, b += kPairs * kSide) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 128);
    _tile_dpbf16ps(0, 4, 6);
    if (kWide) {
      _tile_loadd(7, b + 16, 128);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (kTall) {
      _tile_loadd(5, a + 16 * kSide, 64);
      _tile_dpbf16ps(2, 5, 6);
    }
    if (kTall && kWide) _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, 128);
  if (kWide) _tile_stored(1, c + 16, 128);
  if (kTall) _tile_stored(2, c + 16 * kSide, 128);
  if (kTall && kWide) _tile_stored(3, c + 16 * kSide + 16, 128);
  asm volatile("" ::: "memory");
}

// sums (+)= the part of a block that is there.
SPRUCE_TARGET_V4 void add_block(const float* block, int64_t rows, int64_t columns, bool add,
                                float* sums, int64_t sums_row) {
  for (int64_t i = 0; i < rows; ++i, block += kSide, sums += sums_row) {
    for (int64_t j = 0; j < columns; ++j) sums[j] = add ? sums[j] + block[j] : block[j];
  }
}

// `rows` rows of `terms` terms as the left operand of block(), zeros where there are none.
void pack_rows(const Bfloat16* from, int64_t row, int64_t col, int64_t rows, int64_t terms,
               Bfloat16* to) {
  static const TransposeLoop turn = transpose_loop(sizeof(Bfloat16));
  for (int64_t p = 0; p < terms; p += kSide, from += kSide * col, to += kSide * kSide) {
    const int64_t count = std::min(kSide, terms - p);
    if (count < kSide || rows < kSide) std::fill_n(to, kSide * kSide, Bfloat16());
    if (col != 1 && row == 1) {
      turn(from, col, to, kSide, rows, count);
      continue;
    }
    for (int64_t i = 0; i < rows; ++i) {
      if (col == 1) {
        std::memcpy(to + i * kSide, from + i * row, bytes_of<Bfloat16>(count));
      } else {
        for (int64_t j = 0; j < count; ++j) to[i * kSide + j] = from[i * row + j * col];
      }
    }
  }
}

// Blocks of a sum.
int64_t depths(int64_t k) { return k <= kWholeDepth ? 1 : ceil_div(k, kDepth); }

// A part of a product on this thread. `sums`: where those of several blocks are kept, sums_row
// elements from row to row.
void run(const Gemm& g, float* sums, int64_t sums_row) {
  const auto* const a = static_cast<const Bfloat16*>(g.a);
  const auto* const b = static_cast<const Bfloat16*>(g.b);
  auto* const c = static_cast<Bfloat16*>(g.c);
  const int64_t steps = ceil_div(g.k, kSide), blocks = depths(g.k), depth = ceil_div(steps, blocks);
  const int64_t group = std::max<int64_t>(1, kGroup / (depth * kSide * kSide)) * kSide;
  const int64_t a_size = depth * kSide * kSide,
                b_size = std::min(group, ceil_div(g.n, kSide) * kSide) * depth * kPairs;
  auto* const a_pack = static_cast<Bfloat16*>(
      packed_memory(bytes_of<Bfloat16>(a_size) + bytes_of<Bf16Pair>(b_size)));
  auto* const b_pack = reinterpret_cast<Bf16Pair*>(a_pack + a_size);
  const Tiles tiles;
  for (int64_t j0 = 0; j0 < g.n; j0 += group) {
    const int64_t n = std::min(group, g.n - j0);
    for (int64_t d = 0; d < blocks; ++d) {
      const int64_t first = d * steps / blocks, count = (d + 1) * steps / blocks - first;
      const int64_t p = first * kSide, terms = std::min(g.k - p, count * kSide);
      const int64_t panel = count * kPairs * kSide;  // pairs
      gemm_pack(b + p * g.b_row + j0 * g.b_col, g.b_col, g.b_row, n, terms, kSide, b_pack, panel);
      const int64_t there = ceil_div(terms, 2) * kSide;
      for (int64_t q = 0; q * kSide < n && there < panel; ++q)
        std::memset(b_pack + q * panel + there, 0, bytes_of<Bf16Pair>(panel - there));
      for (int64_t i = 0; i < g.m; i += kSide) {
        const int64_t high = std::min(kSide, g.m - i);
        pack_rows(a + i * g.a_row + p * g.a_col, g.a_row, g.a_col, high, terms, a_pack);
        for (int64_t j = 0; j < n; j += kSide) {
          const int64_t wide = std::min(kSide, n - j);
          const auto one = high > 16 ? (wide > 16 ? &block<true, true> : &block<true, false>)
                                     : (wide > 16 ? &block<false, true> : &block<false, false>);
          alignas(64) float now[kSide * kSide];
          one(count, a_pack, b_pack + j / kSide * panel, now);
          const float* done = now;
          int64_t done_row = kSide;
          if (blocks > 1) {
            float* const all = sums + i * sums_row + j0 + j;
            add_block(now, high, wide, d > 0, all, sums_row);
            done = all, done_row = sums_row;
          }
          if (d + 1 == blocks)
            round_tile(done, done_row, high, wide, c + i * g.c_row + j0 + j, g.c_row);
        }
      }
    }
  }
}

// The processor has the instructions, the system keeps their registers and lets us use them.
bool detect() {
  if (!has_bf16_tiles()) return false;
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kXsave = 1u << 27;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kBf16) == 0 || (d & kTile) == 0)
    return false;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kXsave) == 0) return false;
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr uint32_t kTileState = 3u << 17;
  if ((low & kTileState) != kTileState) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

size_t sums_bytes(const Gemm& g) { return depths(g.k) == 1 ? 0 : bytes_of(g.m * g.n); }

}  // namespace

bool takes_amx(const Gemm& g) {
  static const bool has = detect();
  return has && g.m >= kLeast && g.n >= kLeast && work(g) >= kLeastWork;
}

void gemm_amx(const Gemm& g) {
  const Workspace sums(sums_bytes(g));
  in_grid<Bfloat16>(g, kSide, kSide, [&](const Gemm& part, int64_t i, int64_t j) {
    run(part, sums.data() == nullptr ? nullptr : sums.as<float>() + i * g.n + j, g.n);
  });
}

size_t gemm_amx_workspace(const Gemm& g) { return workspace_size(sums_bytes(g)); }

}  // namespace spruce::cpu

#else

namespace spruce::cpu {

bool takes_amx(const Gemm&) { return false; }
void gemm_amx(const Gemm&) {}
size_t gemm_amx_workspace(const Gemm&) { return 0; }

}  // namespace spruce::cpu

#endif
