// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/dot.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "spruce/core/cpu/gemm/contraction.h"
#include "spruce/core/cpu/gemm/dot_gathered.h"
#include "spruce/core/cpu/gemm/gemm_small.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

// Multiply-adds of rows times a column, which wait for memory, that are worth a thread.
constexpr double kColumnThread = 1 << 18;
constexpr int64_t kWholeSum = 512;  // terms that every form adds up at once
constexpr int64_t kTileRows = 4;    // rows that go through tiles in any case
// Elements side by side in a result with strides that are worth more than a transpose.
constexpr int64_t kNeighbours = 8;

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
  const TinyGemm<T> tiny = gemm.tiny();
  if (c.items == 1 && tiny == nullptr) {
    typename SmallGemm<T>::Packed packed;
    return gemm.run(a, b, y, packed);
  }
  over_items(c, [&](int64_t begin, int64_t end) {
    if (tiny != nullptr && c.loops == 1) {
      const Contraction::Loop& l = c.loop[0];
      return tiny(c.product, {end - begin, l.a, l.b, l.c}, a + begin * l.a, b + begin * l.b,
                  y + begin * l.c);
    }
    if (tiny != nullptr)
      return c.each(begin, end, [&](int64_t i, int64_t j, int64_t k) {
        tiny(c.product, {1, 0, 0, 0}, a + i, b + j, y + k);
      });
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

// True for the products of columns().
bool in_columns(const Contraction& c) {
  return is_rows_by_column(c.product) && (c.dtype == Dtype::kFloat32 || c.dtype == Dtype::kFloat64);
}

// A contraction with what is settled for small products, by their type.
template <class T>
std::optional<SmallGemm<T>> small_gemm(const Contraction& c) {
  if (!is_small<T>(c)) return std::nullopt;
  return SmallGemm<T>(c.product);
}

void contract(const Contraction& c, const std::optional<SmallGemm<float>>& single,
              const std::optional<SmallGemm<double>>& twice, const KernelArgs& args) {
  const void *a = args.in[c.swapped ? 1 : 0].data, *b = args.in[c.swapped ? 0 : 1].data;
  void* const y = args.out[0].data;
  if (single)
    small_products(c, *single, static_cast<const float*>(a), static_cast<const float*>(b),
                   static_cast<float*>(y));
  else if (twice)
    small_products(c, *twice, static_cast<const double*>(a), static_cast<const double*>(b),
                   static_cast<double*>(y));
  else if (in_columns(c) && c.dtype == Dtype::kFloat32)
    columns(c, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(y));
  else if (in_columns(c))
    columns(c, static_cast<const double*>(a), static_cast<const double*>(b),
            static_cast<double*>(y));
  else
    products(c, a, b, y);
}

size_t workspace_of(const Contraction& c) {
  if (is_small<float>(c) || is_small<double>(c) || in_columns(c)) return 0;
  return gemm_workspace(c.dtype, c.product);
}

class PreparedDot final : public PreparedKernel {
 public:
  explicit PreparedDot(const Contraction& c)
      : contraction_(c),
        workspace_(workspace_of(c)),
        single_(small_gemm<float>(c)),
        double_(small_gemm<double>(c)) {}
  void run(const KernelArgs& args) const override {
    const WorkspaceRegion region(args.workspace, workspace_);
    contract(contraction_, single_, double_, args);
  }
  size_t workspace_bytes() const override { return workspace_; }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  Contraction contraction_;
  size_t workspace_;
  std::optional<SmallGemm<float>> single_;
  std::optional<SmallGemm<double>> double_;
};

// True if `part`, which is `whole` for some of the places along an axis that is not summed, gives
// the same bits.
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

}  // namespace

void dot_kernel(const KernelArgs& args) {
  if (args.out[0].numel() == 0) return;
  const Aval &a = *args.in[0].aval, &b = *args.in[1].aval;
  const auto& d = args.params.get<DotParams>();
  const Contraction c(a, b, d, {args.in[0].strides, args.in[1].strides, args.out[0].strides});
  if (c.even)
    contract(c, small_gemm<float>(c), small_gemm<double>(c), args);
  else
    prepare_gathered_dot(a, b, d)->run(args);
}

std::unique_ptr<const PreparedKernel> prepare_dot(const PrepareArgs& args) {
  if (args.out[0]->numel() == 0) return nullptr;
  const auto& d = args.params.get<DotParams>();
  const Contraction c(*args.in[0], *args.in[1], d,
                      {args.input_strides(0), args.input_strides(1), args.output_strides(0)});
  if (!c.even) return prepare_gathered_dot(*args.in[0], *args.in[1], d);
  return std::make_unique<const PreparedDot>(c);
}

bool dot_takes_strides(const StridesArgs& args) {
  DotStrides strides;
  (args.output ? strides.c : args.index == 0 ? strides.a : strides.b) = &args.strides;
  const Contraction c(*args.in[0], *args.in[1], args.params.get<DotParams>(), strides);
  if (!c.even) return false;
  const Gemm& g = c.product;
  if (args.output) return g.n >= kNeighbours;
  const auto takes = [](int64_t step, int64_t other, int64_t size, int64_t other_size) {
    return (step == 1 || other == 1) && (step != 0 || size == 1) && (other != 0 || other_size == 1);
  };
  return args.index == 0 ? takes(g.a_row, g.a_col, g.m, g.k) : takes(g.b_row, g.b_col, g.k, g.n);
}

// The first axis of the result is the first one of the left operand, summed with none, and perhaps
// that of the right one too.
rules::RowReads rows_of_dot(const RowArgs& args) {
  const Aval &lhs = *args.in[0], &rhs = *args.in[1];
  const auto& d = args.params.get<DotParams>();
  if (!rules::has_rows(lhs, args.all) || d.lhs_contract.contains(0)) return {};
  const bool both = !d.lhs_batch.empty();
  if (both && (d.lhs_batch[0] != 0 || d.rhs_batch[0] != 0)) return {};
  Aval a = lhs, b = rhs;
  a.shape[0] = args.rows;
  if (both) b.shape[0] = args.rows;
  if (!same_bits({lhs, rhs, d}, {a, b, d})) return {};
  return {{RowRead::kRows, both ? RowRead::kRows : RowRead::kWhole}};
}

}  // namespace spruce::cpu
