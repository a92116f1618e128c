// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/tiles.h"

#include <algorithm>

namespace spruce::cuda {
namespace {

constexpr int64_t kSide = 64;  // of a tile

constexpr std::string_view kAccumulate = R"cuda(
namespace sp {
// What products of T are summed up in.
template <class T> struct Total {
  typedef u64 type;
  SP_MEMBER static u64 add(T a, T b, u64 sum) { return sum + u64(a) * u64(b); }
};
template <> struct Total<bool> {
  typedef u32 type;
  SP_MEMBER static u32 add(bool a, bool b, u32 sum) { return sum | u32(a && b); }
};
template <> struct Total<f32> {
  typedef f32 type;
  SP_MEMBER static f32 add(f32 a, f32 b, f32 sum) { return fused_multiply_add(a, b, sum); }
};
template <> struct Total<f64> {
  typedef f64 type;
  SP_MEMBER static f64 add(f64 a, f64 b, f64 sum) { return fused_multiply_add(a, b, sum); }
};
}  // namespace sp
)cuda";

std::string load_text(bool along_depth, const char* tile, const char* side, const char* size,
                      const std::string& statements) {
  const std::string s(side);
  return std::string(
             "#pragma unroll\n      for (int j = 0; j < 4; ++j) {\n        const int tk = ") +
         (along_depth ? "t % 16" : "t / 64 + j * 4") +
         ", ts = " + (along_depth ? "t / 16 + j * 16" : "t % 64") +
         ";\n        const sp::i64 k = k0 + tk, " + s + " = " + s +
         "0 + ts;\n        C value = C(0);\n        if (k < depth && " + s + " < " + size +
         ") {\n" + statements + "        }\n        " + tile + "[tk][ts] = value;\n      }\n";
}

}  // namespace

Launch tiles_kernel(KernelBuilder& kernel, const Tiles& t) {
  kernel.front(kAccumulate);
  kernel.value("batches", t.batches);
  kernel.value("rows", t.rows);
  kernel.value("columns", t.columns);
  kernel.value("depth", t.depth);
  const int64_t across = (t.columns + kSide - 1) / kSide,
                tiles = (t.rows + kSide - 1) / kSide * across;
  kernel.value("across", across);
  kernel.value("tiles", tiles);
  const std::string text =
      "  typedef " + std::string(compute_type(t.dtype)) +
      " C;\n  typedef sp::Total<C>::type Sum;\n"
      "  __shared__ C left[16][65], right[16][65];\n"
      "  const int t = threadIdx.x, tx = t % 16, ty = t / 16;\n"
      "  for (sp::i64 b = blockIdx.z; b < batches; b += gridDim.z) {\n"
      "  for (sp::i64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {\n"
      "    const sp::i64 m0 = tile / across * 64, n0 = tile % across * 64;\n"
      "    Sum sums[4][4];\n"
      "#pragma unroll\n    for (int i = 0; i < 16; ++i) sums[i / 4][i % 4] = Sum(0);\n"
      "    for (sp::i64 k0 = 0; k0 < depth; k0 += 16) {\n" +
      load_text(t.left_along_depth, "left", "m", "rows", t.left) +
      load_text(t.right_along_depth, "right", "n", "columns", t.right) +
      "      __syncthreads();\n"
      "#pragma unroll\n      for (int k = 0; k < 16; ++k) {\n"
      "        C a[4], c[4];\n"
      "#pragma unroll\n        for (int i = 0; i < 4; ++i) a[i] = left[k][ty + 16 * i], "
      "c[i] = right[k][tx + 16 * i];\n"
      "#pragma unroll\n        for (int i = 0; i < 16; ++i)\n"
      "          sums[i / 4][i % 4] = sp::Total<C>::add(a[i / 4], c[i % 4], sums[i / 4][i % 4]);\n"
      "      }\n      __syncthreads();\n    }\n"
      "#pragma unroll\n    for (int i = 0; i < 16; ++i) {\n"
      "      const sp::i64 m = m0 + ty + 16 * (i / 4), n = n0 + tx + 16 * (i % 4);\n"
      "      if (m < rows && n < columns) {\n        const C value = C(sums[i / 4][i % 4]);\n" +
      t.store + "      }\n    }\n  }\n  }\n";
  return kernel.launch(text, {std::min(tiles, kMostBlocks), 1, std::min<int64_t>(t.batches, 65535)},
                       {kThreads});
}

}  // namespace spruce::cuda
