// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/gemm_tiles.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "spruce/core/cpu/gemm/tile_rows.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/simd.h"

namespace spruce::cpu {
namespace {

namespace base {
using simd::base::Vector;
constexpr int kTileRows = 6;
template <class T>
constexpr bool kManyForms = SPRUCE_HAS_X86_TARGETS == 0 && std::is_same_v<T, float>;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_BASE
#include "spruce/core/cpu/gemm/gemm_tiles.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace base

#if SPRUCE_HAS_X86_TARGETS

namespace v3 {
using simd::v3::Vector;
constexpr int kTileRows = 6;
template <class T>
constexpr bool kManyForms = std::is_same_v<T, float>;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_V3
#include "spruce/core/cpu/gemm/gemm_tiles.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace v3

namespace v4 {
using simd::v4::Vector;
constexpr int kTileRows = 14;
template <class T>
constexpr bool kManyForms = std::is_same_v<T, float>;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_V4
#include "spruce/core/cpu/gemm/gemm_tiles.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace v4

#endif

template <class T>
const GemmTiles<T>* best() {
#if SPRUCE_HAS_X86_TARGETS
  return pick(&base::kTiles<T>, &v3::kTiles<T>, &v4::kTiles<T>);
#else
  return &base::kTiles<T>;
#endif
}

}  // namespace

template <class T>
const GemmTiles<T>& gemm_tiles() {
  static const GemmTiles<T>* const tiles = best<T>();
  return *tiles;
}

template const GemmTiles<float>& gemm_tiles<float>();
template const GemmTiles<double>& gemm_tiles<double>();

}  // namespace spruce::cpu
