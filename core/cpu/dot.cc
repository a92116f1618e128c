// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/dot.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "spruce/core/cpu/contraction.h"
#include "spruce/core/cpu/copy.h"
#include "spruce/core/cpu/gemm_small.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/parallel.h"
#include "spruce/core/cpu/scratch.h"

namespace spruce::cpu {
namespace {

// Multiply-adds of rows times a column, which wait for memory, that are worth a thread.
constexpr double kColumnThread = 1 << 18;
constexpr int64_t kWholeSum = 512;  // terms that every form adds up at once
constexpr int64_t kTileRows = 4;    // rows that go through tiles in any case

// The axes of rank `rank` that are in neither list, rising.
Axes free_axes(int rank, const Axes& contract, const Axes& batch) {
  Axes out;
  for (int i = 0; i < rank; ++i) {
    if (!contract.contains(i) && !batch.contains(i)) out.push_back(i);
  }
  return out;
}

Axes joined(const Axes& a, const Axes& b) {
  Axes out = a;
  for (const int64_t x : b) out.push_back(x);
  return out;
}

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
struct Operand {
  const void* data;
  Group rows, cols;
  std::vector<int64_t> offsets;  // one a batch; empty for zeros
  Scratch copy;

  Operand(const View& v, const Axes& batch, const Axes& free, const Axes& contract)
      : data(v.data),
        rows(group(v.shape(), row_major_strides(v.shape()), free)),
        cols(group(v.shape(), row_major_strides(v.shape()), contract)),
        copy(rows.one && cols.one ? 0 : static_cast<size_t>(v.aval->bytes())) {
    Shape sizes, strides;
    const Shape all = row_major_strides(v.shape());
    for (const int64_t i : batch) sizes.push_back(v.shape()[i]), strides.push_back(all[i]);
    if (!rows.one || !cols.one) {
      Shape order_sizes = sizes, order_strides = strides;
      for (const int64_t i : joined(free, contract)) {
        order_sizes.push_back(v.shape()[i]);
        order_strides.push_back(all[i]);
      }
      copy_strided(order_sizes, {copy.data(), row_major_strides(order_sizes)},
                   {v.data, order_strides}, size_of(v.dtype()));
      data = copy.data();
      cols = {cols.size, 1, true};
      rows = {rows.size, cols.size, true};
      strides = row_major_strides(sizes);
      for (int64_t& s : strides) s *= rows.size * cols.size;
    }
    const int64_t count = sizes.numel();
    if (count <= 1) return;
    offsets.resize(static_cast<size_t>(count));
    Shape index = Shape::filled(sizes.rank(), 0);
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
      offsets[static_cast<size_t>(i)] = offset;
      for (int d = sizes.rank() - 1; d >= 0; --d) {
        offset += strides[d];
        if (++index[d] < sizes[d]) break;
        offset -= strides[d] * sizes[d];
        index[d] = 0;
      }
    }
  }
};

// Contracted axes that are not one: operands are copied where that makes them one.
void gathered(const KernelArgs& args, const DotParams& d) {
  const View &x = args.in[0], &y = args.in[1], &out = args.out[0];
  // The order of summation is free: the one that lhs has in memory.
  Axes order;
  for (int i = 0; i < d.lhs_contract.rank(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t j) { return d.lhs_contract[i] < d.lhs_contract[j]; });
  Axes x_contract, y_contract;
  for (const int64_t i : order) {
    x_contract.push_back(d.lhs_contract[i]);
    y_contract.push_back(d.rhs_contract[i]);
  }
  const Operand a(x, d.lhs_batch, free_axes(x.shape().rank(), x_contract, d.lhs_batch), x_contract);
  const Operand b(y, d.rhs_batch, free_axes(y.shape().rank(), y_contract, d.rhs_batch), y_contract);
  Gemm g;
  g.m = a.rows.size, g.n = b.rows.size, g.k = a.cols.size;
  g.a = a.data, g.a_row = a.rows.stride, g.a_col = a.cols.stride;
  g.b = b.data, g.b_row = b.cols.stride, g.b_col = b.rows.stride;
  g.c = out.data, g.c_row = g.n;
  const int64_t count = out.numel() / (g.m * g.n);
  gemm_batched(out.dtype(), g, count, a.offsets.empty() ? nullptr : a.offsets.data(),
               b.offsets.empty() ? nullptr : b.offsets.data(), g.m * g.n);
}

// Calls f(begin, end) on ranges of the products, on several threads where it pays.
template <class F>
void over_items(const Contraction& c, const F& f) {
  const double each = work(c.product);
  // Few large products are split within.
  if (c.items == 1 || (each > 16 * kThread && c.items < threads())) return f(int64_t{0}, c.items);
  parallel_pieces(c.items, static_cast<int64_t>(std::max(1.0, kThread / std::max(each, 1.0))), f);
}

template <class T>
void small_products(const Contraction& c, const SmallGemm<T>& gemm, const T* a, const T* b, T* y) {
  if (c.items == 1) {
    typename SmallGemm<T>::Packed packed;
    return gemm.run(a, b, y, packed);
  }
  over_items(c, [&](int64_t begin, int64_t end) {
    typename SmallGemm<T>::Packed packed;
    c.each(begin, end,
           [&](int64_t i, int64_t j, int64_t k) { gemm.run(a + i, b + j, y + k, packed); });
  });
}

void products(const Contraction& c, const void* a, const void* b, void* y) {
  const int64_t bytes = size_of(c.dtype);
  over_items(c, [&](int64_t begin, int64_t end) {
    Gemm g = c.product;
    c.each(begin, end, [&](int64_t i, int64_t j, int64_t k) {
      g.a = static_cast<const char*>(a) + i * bytes;
      g.b = static_cast<const char*>(b) + j * bytes;
      g.c = static_cast<char*>(y) + k * bytes;
      gemm(c.dtype, g);
    });
  });
}

template <class T>
void columns(const Contraction& c, const T* a, const T* b, T* y) {
  const Gemm& g = c.product;
  const auto rows = static_cast<int64_t>(kColumnThread / static_cast<double>(g.k)) + 1;
  c.each(0, c.items, [&](int64_t i, int64_t j, int64_t k) {
    parallel_pieces(g.m, rows, [&](int64_t begin, int64_t end) {
      gemm_tiles<T>().dots(end - begin, g.k, a + i + begin * g.a_row, g.a_row, b + j,
                           y + k + begin * g.c_row, g.c_row, false);
    });
  });
}

template <class T>
bool is_small(const Contraction& c) {
  const double most = is_rows_by_column(c.product) && c.items == 1 ? kColumnThread : kSmallGemm;
  return c.dtype == dtype_of<T>() && work(c.product) < most;
}

class PreparedDot final : public PreparedKernel {
 public:
  explicit PreparedDot(Contraction c) : contraction_(c) {
    if (is_small<float>(c)) single_.emplace(c.product);
    if (is_small<double>(c)) double_.emplace(c.product);
  }
  void run(const KernelArgs& args) const override {
    const void *a = args.in[0].data, *b = args.in[1].data;
    void* const y = args.out[0].data;
    if (single_)
      small_products(contraction_, *single_, static_cast<const float*>(a),
                     static_cast<const float*>(b), static_cast<float*>(y));
    else if (double_)
      small_products(contraction_, *double_, static_cast<const double*>(a),
                     static_cast<const double*>(b), static_cast<double*>(y));
    else if (is_rows_by_column(contraction_.product) && contraction_.dtype == Dtype::kFloat32)
      columns(contraction_, static_cast<const float*>(a), static_cast<const float*>(b),
              static_cast<float*>(y));
    else if (is_rows_by_column(contraction_.product) && contraction_.dtype == Dtype::kFloat64)
      columns(contraction_, static_cast<const double*>(a), static_cast<const double*>(b),
              static_cast<double*>(y));
    else
      products(contraction_, a, b, y);
  }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  Contraction contraction_;
  std::optional<SmallGemm<float>> single_;
  std::optional<SmallGemm<double>> double_;
};

}  // namespace

void dot_kernel(const KernelArgs& args) {
  if (args.out[0].numel() == 0) return;
  const auto& d = args.params.get<DotParams>();
  const Contraction c(*args.in[0].aval, *args.in[1].aval, d);
  if (!c.even) return gathered(args, d);
  const PreparedDot dot(c);
  dot.run(args);
}

std::unique_ptr<const PreparedKernel> prepare_contraction(const Contraction& c) {
  return c.even ? std::make_unique<const PreparedDot>(c) : nullptr;
}

bool same_bits(const Contraction& whole, const Contraction& part) {
  if (!whole.even || !part.even) return false;
  const Gemm &w = whole.product, &p = part.product;
  if (w.m == p.m && w.n == p.n && w.k == p.k && w.a_row == p.a_row && w.a_col == p.a_col &&
      w.b_row == p.b_row && w.b_col == p.b_col)
    return true;
  // Tiles add the terms of an element in one order, but blocks of the sum and other forms depend on
  // the sizes.
  const bool tiles = std::min(w.m, p.m) >= kTileRows && w.n == p.n && w.n > 1 && w.k == p.k;
  if (is_rows_by_column(w) && is_rows_by_column(p) && w.k == p.k && is_floating(whole.dtype) &&
      size_of(whole.dtype) >= 4)
    return true;
  const bool both_large = std::min(work(w), work(p)) >= kSmallGemm;
  if (!tiles || (w.k > kWholeSum && !both_large)) return false;
  if (whole.dtype == Dtype::kFloat64) return true;
  return whole.dtype == Dtype::kFloat32 &&
         (isa_level() != IsaLevel::kBase || std::max(work(w), work(p)) < kSmallGemm);
}

std::unique_ptr<const PreparedKernel> prepare_dot(const PrepareArgs& args) {
  if (args.out[0]->shape.numel() == 0) return nullptr;
  return prepare_contraction(Contraction(*args.in[0], *args.in[1], args.params.get<DotParams>()));
}

}  // namespace spruce::cpu
