// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/dot_gathered.h"

#include <algorithm>
#include <vector>

#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

// Several axes read as one: possible where each steps over the whole of the next.
struct Group {
  int64_t size = 1;
  int64_t stride = 1;
  bool one = true;
};

Group group(const Shape& shape, const Shape& strides, const Axes& axes) {
  Group g;
  bool first = true;
  for (int i = axes.rank() - 1; i >= 0; --i) {
    const int64_t size = shape[axes[i]], stride = strides[axes[i]];
    if (size == 1) continue;
    if (first)
      g.stride = stride;
    else if (stride != g.stride * g.size)
      g.one = false;
    g.size *= size;
    first = false;
  }
  return g;
}

// An operand as a stack of matrices [free, contract]; copied where its axes do not line up.
class Operand {
 public:
  Operand(const Aval& v, const Axes& batch, const Axes& free, const Axes& contract)
      : rows(group(v.shape, row_major_strides(v.shape), free)),
        cols(group(v.shape, row_major_strides(v.shape), contract)),
        element_(size_of(v.dtype)) {
    Shape sizes, strides;
    const Shape all = row_major_strides(v.shape);
    for (const int64_t i : batch) sizes.push_back(v.shape[i]), strides.push_back(all[i]);
    copies_ = !rows.one || !cols.one;
    if (copies_) {
      bytes_ = static_cast<size_t>(v.bytes());
      order_ = sizes, steps_ = strides;
      for (const Axes& axes : {free, contract}) {
        for (const int64_t i : axes) order_.push_back(v.shape[i]), steps_.push_back(all[i]);
      }
      cols = {cols.size, 1, true};
      rows = {rows.size, cols.size, true};
      strides = row_major_strides(sizes);
      for (int64_t& s : strides) s *= rows.size * cols.size;
    }
    const int64_t count = sizes.numel();
    if (count <= 1) return;
    offsets_.resize(static_cast<size_t>(count));
    Shape index = Shape::filled(sizes.rank(), 0);
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
      offsets_[static_cast<size_t>(i)] = offset;
      for (int d = sizes.rank() - 1; d >= 0; --d) {
        offset += strides[d];
        if (++index[d] < sizes[d]) break;
        offset -= strides[d] * sizes[d];
        index[d] = 0;
      }
    }
  }

  // Of the copy.
  size_t bytes() const { return bytes_; }
  // Where the matrices stand: at `data`, or copied to `memory`.
  const void* at(void* data, void* memory) const {
    if (!copies_) return data;
    copy_strided(order_, {memory, row_major_strides(order_)}, {data, steps_}, element_);
    return memory;
  }
  // One a batch; null for zeros.
  const int64_t* offsets() const { return offsets_.empty() ? nullptr : offsets_.data(); }

  Group rows, cols;

 private:
  int64_t element_;
  bool copies_;
  size_t bytes_ = 0;
  Shape order_, steps_;
  std::vector<int64_t> offsets_;
};

// The contracted axes of one operand in the order that the left one has in memory: that of a sum is
// free.
Axes contracted(const DotParams& d, const Axes& of) {
  Axes order, out;
  for (int i = 0; i < of.rank(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t j) { return d.lhs_contract[i] < d.lhs_contract[j]; });
  for (const int64_t i : order) out.push_back(of[i]);
  return out;
}

class GatheredDot final : public PreparedKernel {
 public:
  GatheredDot(const Aval& a, const Aval& b, const DotParams& d)
      : dtype_(a.dtype),
        a_(a, d.lhs_batch, rules::free_axes(a.shape.rank(), d.lhs_contract, d.lhs_batch),
           contracted(d, d.lhs_contract)),
        b_(b, d.rhs_batch, rules::free_axes(b.shape.rank(), d.rhs_contract, d.rhs_batch),
           contracted(d, d.rhs_contract)) {
    product_.m = a_.rows.size, product_.n = b_.rows.size, product_.k = a_.cols.size;
    product_.a_row = a_.rows.stride, product_.a_col = a_.cols.stride;
    product_.b_row = b_.cols.stride, product_.b_col = b_.rows.stride;
    product_.c_row = product_.n;
    for (const int64_t i : d.lhs_batch) count_ *= a.shape[i];
    workspace_ =
        workspace_size(a_.bytes()) + workspace_size(b_.bytes()) + gemm_workspace(dtype_, product_);
  }

  void run(const KernelArgs& args) const override {
    const WorkspaceRegion region(args.workspace, workspace_);
    const Workspace a(a_.bytes()), b(b_.bytes());
    Gemm g = product_;
    g.a = a_.at(args.in[0].data, a.data()), g.b = b_.at(args.in[1].data, b.data());
    g.c = args.out[0].data;
    gemm_batched(dtype_, g, count_, a_.offsets(), b_.offsets(), g.m * g.n);
  }
  size_t workspace_bytes() const override { return workspace_; }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  Dtype dtype_;
  Operand a_, b_;
  Gemm product_;       // sizes and strides; no pointers
  int64_t count_ = 1;  // products
  size_t workspace_;
};

}  // namespace

std::unique_ptr<const PreparedKernel> prepare_gathered_dot(const Aval& a, const Aval& b,
                                                           const DotParams& d) {
  return std::make_unique<const GatheredDot>(a, b, d);
}

}  // namespace spruce::cpu
