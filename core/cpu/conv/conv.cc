// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/conv/conv.h"

#include <algorithm>

#include "spruce/core/cpu/conv/conv_over_batch.h"
#include "spruce/core/cpu/conv/conv_over_cells.h"
#include "spruce/core/cpu/conv/conv_over_channels.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/gemm/lane_tiles.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

// The plain sum, for integers (which wrap) and bool.
template <class T>
void conv_plain(const ConvPlan& c, const T* lhs, const T* rhs, T* out) {
  const int64_t cells = c.out_size(), taps = c.window_size();
  parallel_for(c.groups * c.batch * c.out_features, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t o = item % c.out_features, n = item / c.out_features % c.batch,
                    g = item / c.out_features / c.batch;
      for (int64_t cell = 0; cell < cells; ++cell) {
        const int64_t p[3] = {cell / c.out[2] / c.out[1], cell / c.out[2] % c.out[1],
                              cell % c.out[2]};
        uint64_t sum = 0;
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t k[3] = {tap / c.window[2] / c.window[1], tap / c.window[2] % c.window[1],
                                tap % c.window[2]};
          int64_t offset = 0;
          bool inside = true;
          for (int d = 0; d < 3; ++d) {
            const int64_t at = p[d] * c.stride[d] - c.low[d] +
                               (c.reversed ? c.window[d] - 1 - k[d] : k[d]) * c.window_dilation[d];
            inside = inside && at >= 0 && at % c.dilation[d] == 0 && at / c.dilation[d] < c.in[d];
            offset = offset * c.in[d] + at / c.dilation[d];
          }
          if (!inside) continue;
          const T* x = lhs + g * c.lhs_group + n * c.lhs_batch + offset;
          const T* w = rhs + g * c.rhs_group + o * c.rhs_out + tap;
          for (int64_t i = 0; i < c.in_features; ++i) {
            const auto product = static_cast<uint64_t>(x[i * c.lhs_feature]) *
                                 static_cast<uint64_t>(w[i * c.rhs_in]);
            sum = std::is_same_v<T, bool> ? sum | product : sum + product;
          }
        }
        out[g * c.out_group + n * c.out_batch + o * c.out_feature + cell] = static_cast<T>(sum);
      }
    }
  });
}

void float_conv(const ConvPlan& c, const float* lhs, const float* rhs, float* out) {
  if (!c.pointwise() && (conv_over_cells(c, lhs, rhs, out) || conv_over_batch(c, lhs, rhs, out) ||
                         conv_over_channels(c, lhs, rhs, out)))
    return;
  conv_by_gemm(c, lhs, rhs, out);
}

size_t float_conv_workspace(const ConvPlan& c) {
  if (!c.pointwise()) {
    if (const size_t bytes = conv_over_cells_workspace(c)) return bytes;
    if (const size_t bytes = conv_over_batch_workspace(c)) return bytes;
    if (const size_t bytes = conv_over_channels_workspace(c)) return bytes;
  }
  return conv_by_gemm_workspace<float>(c);
}

size_t conv_workspace(const ConvPlan& c, const Aval& lhs, const Aval& rhs, const Aval& out) {
  if (!is_floating(out.dtype)) return 0;
  if (out.dtype == Dtype::kFloat64) return conv_by_gemm_workspace<double>(c);
  size_t bytes = float_conv_workspace(c);
  if (out.dtype == Dtype::kFloat32) return bytes;
  for (const Aval* copied : {&lhs, &rhs, &out}) bytes += workspace_size(bytes_of(copied->numel()));
  return bytes;
}

void run_conv(const ConvPlan& c, const KernelArgs& args) {
  const View &lhs = args.in[0], &rhs = args.in[1], &out = args.out[0];
  visit_dtype(out.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      conv_plain(c, lhs.as<T>(), rhs.as<T>(), out.as<T>());
    } else if constexpr (std::is_same_v<T, float>) {
      float_conv(c, lhs.as<float>(), rhs.as<float>(), out.as<float>());
    } else if constexpr (std::is_same_v<T, double>) {
      conv_by_gemm(c, lhs.as<double>(), rhs.as<double>(), out.as<double>());
    } else {
      const Workspace x(bytes_of(lhs.numel())), w(bytes_of(rhs.numel())), y(bytes_of(out.numel()));
      widen(lhs.as<T>(), x.as<float>(), lhs.numel());
      widen(rhs.as<T>(), w.as<float>(), rhs.numel());
      float_conv(c, x.as<float>(), w.as<float>(), y.as<float>());
      narrow(y.as<float>(), out.as<T>(), out.numel());
    }
  });
}

class PreparedConv final : public PreparedKernel {
 public:
  PreparedConv(const ConvPlan& c, size_t workspace) : conv_(c), workspace_(workspace) {}
  void run(const KernelArgs& args) const override {
    const WorkspaceRegion region(args.workspace, workspace_);
    run_conv(conv_, args);
  }
  size_t workspace_bytes() const override { return workspace_; }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  ConvPlan conv_;
  size_t workspace_;
};

// True if `part`, which is `whole` for some of the samples, one after the other, gives the same
// bits in f32; not for every case in which it does.
bool same_bits(const ConvPlan& whole, const ConvPlan& part) {
  if (whole.pointwise()) return false;
  const bool cells = conv_over_cells_workspace(whole) > 0;
  if (cells != (conv_over_cells_workspace(part) > 0)) return false;
  if (cells) return true;
  const bool gradient = !whole.reversed && whole.window_size() > whole.out_size();
  if (whole.groups != 1 || gradient) return false;
  const bool lanes = conv_over_batch_workspace(whole) > 0;
  if (lanes != (conv_over_batch_workspace(part) > 0)) return false;
  if (lanes) return part.batch % lane_tiles().lanes == 0;
  return conv_over_channels_workspace(whole) > 0 && conv_over_channels_workspace(part) > 0;
}

}  // namespace

std::unique_ptr<const PreparedKernel> prepare_conv(const PrepareArgs& args) {
  const Aval &lhs = *args.in[0], &rhs = *args.in[1], &out = *args.out[0];
  if (out.numel() == 0) return nullptr;
  const ConvPlan c = plan_conv(lhs.shape, rhs.shape, out.shape, args.params.get<ConvParams>());
  return std::make_unique<const PreparedConv>(c, conv_workspace(c, lhs, rhs, out));
}

void conv_kernel(const KernelArgs& args) {
  const Shape& out = args.out[0].shape();
  if (out.numel() == 0) return;
  run_conv(plan_conv(args.in[0].shape(), args.in[1].shape(), out, args.params.get<ConvParams>()),
           args);
}

rules::RowReads rows_of_conv(const RowArgs& args) {
  const auto& p = args.params.get<ConvParams>();
  const Aval &out = *args.out[0], &rhs = *args.in[1];
  if (out.dtype != Dtype::kFloat32 || p.lhs_swapped || p.out_swapped || p.batch_group_count != 1)
    return {};
  Shape x = args.in[0]->shape, y = out.shape;
  const ConvPlan whole = plan_conv(x, rhs.shape, y, p);
  x[0] = y[0] = args.rows;
  if (!same_bits(whole, plan_conv(x, rhs.shape, y, p))) return {};
  return {{RowRead::kRows, RowRead::kWhole}};
}

}  // namespace spruce::cpu
