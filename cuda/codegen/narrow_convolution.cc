// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/narrow_convolution.h"

#include <algorithm>
#include <bit>

#include "spruce/cuda/codegen/columns.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kMostFeatures = 8;  // sums in registers
constexpr int64_t kLong = 1024;       // products of one sum that a block shares
constexpr int64_t kMostDepth = int64_t{1} << 30;

constexpr std::string_view kPlace = R"cuda(
    const N n = N(i), rest = n / N(cells);
    sp::u32 place = sp::u32(n % N(cells));
    const T* const x = x0 + (rest / N(images) * x_group + rest % N(images) * x_image);
    const T* const w = x1 + rest / N(images) * w_group;
    C sums[M];
#pragma unroll
    for (int m = 0; m < M; ++m) sums[m] = 0;
)cuda";

constexpr std::string_view kAdd = R"cuda(
    if (inside) {
      const C v = sp::widen(x[f * x_feature + at]);
#pragma unroll
      for (int m = 0; m < M; ++m) {
        if (M == 1 || m < features)
          sums[m] = sp::fused_multiply_add(v, C(sp::widen(w[m * w_out + f * w_in + tap])), sums[m]);
      }
    }
)cuda";

// The sums of the threads in a fixed order.
constexpr std::string_view kShare = R"cuda(
    __shared__ C parts[256];
#pragma unroll
    for (int m = 0; m < M; ++m) {
      parts[threadIdx.x] = sums[m];
      __syncthreads();
      for (int by = 128; by > 0; by /= 2) {
        if (threadIdx.x < by) parts[threadIdx.x] += parts[threadIdx.x + by];
        __syncthreads();
      }
      sums[m] = parts[0];
      __syncthreads();
    }
    if (threadIdx.x != 0) continue;
)cuda";

constexpr std::string_view kStore = R"cuda(
    const N to = N(i), which = to / N(cells);
    T* const y = y0 + (which / N(images) * y_group + which % N(images) * y_image + to % N(cells));
#pragma unroll
    for (int m = 0; m < M; ++m)
      if (m < features) y[m * y_feature] = sp::narrow<T>(sums[m]);
)cuda";

}  // namespace

bool is_narrow(const PrepareArgs& args, const ConvPlan& c) {
  return is_floating(args.out[0]->dtype) && c.groups > 1 && c.out_features <= kMostFeatures &&
         has_columns(c) && c.in_features * c.window_size() < kMostDepth;
}

void narrow_convolution(const PrepareArgs& args, const ConvPlan& c, Kernels& out) {
  const Dtype d = args.out[0]->dtype;
  const int64_t count = c.groups * c.batch * c.out_size(), depth = c.in_features * c.window_size();
  const bool shared = depth >= kLong;
  KernelBuilder kernel("narrow_convolution", args);
  kernel.input(0), kernel.input(1), kernel.output(0);
  const WindowText text = window_text(kernel, c, shared, shared);
  kernel.values({{"cells", c.out_size()},
                 {"images", c.batch},
                 {"taps", c.window_size()},
                 {"depth", depth},
                 {"features", c.out_features},
                 {"x_features", c.in_features},
                 {"x_group", c.lhs_group},
                 {"x_image", c.lhs_batch},
                 {"x_feature", c.lhs_feature},
                 {"w_group", c.rhs_group},
                 {"w_out", c.rhs_out},
                 {"w_in", c.rhs_in},
                 {"y_group", c.out_group},
                 {"y_image", c.out_batch},
                 {"y_feature", c.out_feature}});
  const std::string begin =
      "  typedef " + std::string(compute_type(d)) + " C;\n  typedef " + std::string(text_type(d)) +
      " T;\n  typedef " + counting_type(count) + " N;\n  constexpr int M = " +
      std::to_string(std::bit_ceil(static_cast<uint64_t>(c.out_features))) + ";\n";
  if (!shared) {
    kernel.begin(begin);
    out.steps.push_back(kernel.for_each(
        count, std::string(kPlace) + "    sp::u32 cell = place;\n" + text.own +
                   "#pragma unroll 1\n    for (sp::i64 f = 0; f < x_features; ++f) {\n"
                   "    int tap = 0;\n" +
                   text.begin + std::string(kAdd) + "    ++tap;\n" + text.end + "    }\n" +
                   std::string(kStore)));
    return;
  }
  kernel.value("count", count);
  const std::string body = begin + "  for (sp::i64 i = blockIdx.x; i < count; i += gridDim.x) {\n" +
                           std::string(kPlace) + text.other +
                           "    for (sp::u32 k = threadIdx.x; k < sp::u32(depth); k += 256) {\n"
                           "    const sp::u32 f = k / sp::u32(taps), tap = k % sp::u32(taps);\n"
                           "    sp::u32 cell = tap;\n" +
                           text.own + text.begin + std::string(kAdd) + text.end + "    }\n" +
                           std::string(kShare) + std::string(kStore) + "  }\n";
  out.steps.push_back(kernel.launch(body, {std::min(count, kMostBlocks)}, {kThreads}));
}

}  // namespace spruce::cuda
