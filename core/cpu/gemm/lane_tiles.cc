// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/lane_tiles.h"

#include <type_traits>
#include <utility>

#include "spruce/core/cpu/gemm/tile_rows.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/simd.h"

namespace spruce::cpu {
namespace {

namespace base {
using simd::base::Vector;
constexpr int kRegisters = 16;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_BASE
#include "spruce/core/cpu/gemm/lane_tiles.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace base

#if SPRUCE_HAS_X86_TARGETS

namespace v3 {
using simd::v3::Vector;
constexpr int kRegisters = 16;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_V3
#include "spruce/core/cpu/gemm/lane_tiles.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace v3

namespace v4 {
using simd::v4::Vector;
constexpr int kRegisters = 32;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_V4
#include "spruce/core/cpu/gemm/lane_tiles.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace v4

#endif

}  // namespace

const LaneTiles& lane_tiles() {
#if SPRUCE_HAS_X86_TARGETS
  static const LaneTiles* const best = pick(&base::kTiles, &v3::kTiles, &v4::kTiles);
  return *best;
#else
  return base::kTiles;
#endif
}

int64_t whole_vectors(int64_t n) { return ceil_div(n, lane_tiles().lanes) * lane_tiles().lanes; }

double filled(int64_t n) { return static_cast<double>(n) / static_cast<double>(whole_vectors(n)); }

LaneTileSize::LaneTileSize(int64_t all_rows, int64_t all_columns) {
  const auto part = [](int64_t n, int64_t most) { return ceil_div(n, ceil_div(n, most)); };
  for (int64_t most = 1; most <= LaneTiles::kMaxColumns; ++most) {
    const int64_t wide = part(all_columns, most),
                  high = part(all_rows, lane_tiles().rows(static_cast<int>(wide)));
    const double of_this = static_cast<double>(wide * high) / static_cast<double>(wide + high);
    if (of_this > reuse) reuse = of_this, rows = high, columns = wide;
  }
}

}  // namespace spruce::cpu
