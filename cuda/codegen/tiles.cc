// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/tiles.h"

#include <algorithm>

#include "spruce/core/rules/dot.h"
#include "spruce/cuda/products/gemm.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kTile = 64, kThreads = 256;

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
  const int64_t across = (t.columns + kTile - 1) / kTile,
                tiles = (t.rows + kTile - 1) / kTile * across;
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

Kernels product_kernels(const PrepareArgs& args, const ProductAxes& p) {
  Kernels out;
  const Shape &x = args.in[0]->shape, &y = args.in[1]->shape, &to = args.out[0]->shape;
  if (to.numel() == 0) return out;
  const Shape xs = row_major_strides(x), ys = row_major_strides(y), steps = row_major_strides(to);
  // The steps of the result along the axes of the dense one.
  Shape ts = steps;
  for (int i = 0; i < p.perm.rank(); ++i) ts[p.perm[i]] = steps[i];
  Walk batch, rows, columns, depth;
  int axis = 0;
  for (int i = 0; i < p.lhs_batch.rank(); ++i, ++axis)
    batch.add(x[p.lhs_batch[i]], {xs[p.lhs_batch[i]], ys[p.rhs_batch[i]], ts[axis]});
  for (const int64_t i : rules::free_axes(x.rank(), p.lhs_contract, p.lhs_batch))
    rows.add(x[i], {xs[i], ts[axis++]});
  for (const int64_t i : rules::free_axes(y.rank(), p.rhs_contract, p.rhs_batch))
    columns.add(y[i], {ys[i], ts[axis++]});
  for (int i = 0; i < p.lhs_contract.rank(); ++i)
    depth.add(x[p.lhs_contract[i]], {xs[p.lhs_contract[i]], ys[p.rhs_contract[i]]});

  const Dtype d = args.out[0]->dtype;
  // One step along each axis is what libraries multiply.
  const auto one = [](const Walk& w) { return w.axes.size() <= 1; };
  if (one(batch) && one(rows) && one(columns) && one(depth)) {
    const auto step = [](const Walk& w, size_t which) {
      return w.axes.empty() ? int64_t{0} : w.axes[0].steps[which];
    };
    const std::optional<Kernels> gemm =
        gemm_kernels({d,
                      batch.size(),
                      rows.size(),
                      columns.size(),
                      depth.size(),
                      {step(batch, 0), step(rows, 0), step(depth, 0)},
                      {step(batch, 1), step(depth, 1), step(columns, 0)},
                      {step(batch, 2), step(rows, 1), step(columns, 1)}});
    if (gemm) return *gemm;
  }
  KernelBuilder kernel("product", args);
  const std::string left = kernel.input(0), right = kernel.input(1), result = kernel.output(0);
  // Each walk is written where it is used; its sizes are declared once.
  const std::string begin = "        sp::i64 px = 0, py = 0, pz = 0;\n";
  const std::string b = "    {\n" + batch.places(kernel, "b_", "b", {"px", "py", "pz"}) + "    }\n";
  const std::string m = "    {\n" + rows.places(kernel, "m_", "m", {"px", "pz"}) + "    }\n";
  const std::string n = "    {\n" + columns.places(kernel, "n_", "n", {"py", "pz"}) + "    }\n";
  const std::string k = "    {\n" + depth.places(kernel, "k_", "k", {"px", "py"}) + "    }\n";
  const auto dense = [](const Walk& w, size_t which) {
    return !w.axes.empty() && w.axes.back().steps[which] == 1;
  };
  Tiles t{batch.size(),
          rows.size(),
          columns.size(),
          depth.size(),
          d,
          dense(depth, 0),
          dense(depth, 1),
          begin + b + m + k + "        value = sp::widen(" + left + "[px]);\n",
          begin + b + n + k + "        value = sp::widen(" + right + "[py]);\n",
          begin + b + m + n + "        " + result + "[pz] = sp::narrow<" +
              std::string(text_type(d)) + ">(value);\n"};
  out.steps.push_back(tiles_kernel(kernel, t));
  return out;
}

}  // namespace spruce::cuda
