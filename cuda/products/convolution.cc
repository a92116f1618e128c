// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/products/convolution.h"

#include <algorithm>
#include <map>

#include "spruce/cuda/codegen/columns.h"
#include "spruce/cuda/codegen/loops.h"
#include "spruce/cuda/codegen/strided.h"
#include "spruce/cuda/products/gemm.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kPatchesPiece = int64_t{64} << 20;  // bytes of a piece of the matrix
constexpr int64_t kMostGroups = 64;                   // each has products of its own
constexpr int64_t kWide = 2048;                       // columns that keep a device busy

int64_t pieces(int64_t n, int64_t most) { return (n + most - 1) / most; }
// The size of pieces of about one size, each at most `most`.
int64_t even(int64_t n, int64_t most) {
  const int64_t count = pieces(n, std::max<int64_t>(1, most));
  return pieces(n, count);
}

class Convolution {
 public:
  Convolution(const PrepareArgs& args, const ConvPlan& c)
      : args_(args),
        c_(c),
        dtype_(args.out[0]->dtype),
        bytes_(size_of(dtype_)),
        cells_(c.out_size()),
        taps_(c.window_size()),
        deep_(taps_ > cells_) {
    // Rows of halves have to be multiples of 16 bytes for the tensor cores.
    direct_ = c.pointwise() && (!is_half(dtype_) || c.lhs_feature % 8 == 0);
    divide();
  }

  bool write(Kernels& out) {
    gemm_at_ = reserve(out, kGemmWorkspace);
    if (!direct_) {
      const int64_t rows = deep_ ? images_ * part_ : rounded(features_ * taps_),
                    columns = deep_ ? rounded(features_ * taps_) : images_ * rounded(part_);
      columns_at_ = reserve(out, rows * columns * bytes_);
    }
    if (!reads_windows())
      windows_at_ = reserve(out, c_.out_features * rounded(features_ * taps_) * bytes_);
    if (adds_apart())
      sums_at_ = reserve(out, c_.out_features * images_ * part_ * size_of(Dtype::kFloat32));
    for (int64_t g = 0; g < c_.groups; ++g) {
      for (int64_t image = 0; image < c_.batch; image += images_) {
        for (int64_t cell = 0; cell < cells_; cell += part_) {
          if (!piece({g, image, std::min(images_, c_.batch - image), cell,
                      std::min(part_, cells_ - cell)},
                     image == 0 && cell == 0, out))
            return false;
        }
      }
    }
    return true;
  }

 private:
  // Images and places of the output of one group.
  struct Piece {
    int64_t group, image, images, cell, cells;
  };

  // All of the depth at once, unless a piece were few columns then.
  void divide() {
    images_ = even(c_.batch, kMostGemmBatches);
    features_ = c_.in_features;
    part_ = cells_;
    if (direct_) return;
    const int64_t wide = std::min(c_.batch * cells_, kWide);
    features_ = even(c_.in_features, kPatchesPiece / bytes_ / taps_ / wide);
    const int64_t most = std::max<int64_t>(1, kPatchesPiece / bytes_ / (features_ * taps_));
    images_ = even(c_.batch, std::min(kMostGemmBatches, most / cells_));
    if (images_ == 1 && !deep_) part_ = even(cells_, most);
  }
  int64_t rounded(int64_t n) const { return (n + 15) / 16 * 16; }
  bool adds_apart() const { return is_half(dtype_) && features_ < c_.in_features; }

  // The step from one tap of one feature to the next where it is one step, else 0.
  int64_t depth_step() const {
    if (taps_ == 1) return c_.rhs_in;
    return c_.rhs_in == taps_ || c_.in_features == 1 ? 1 : 0;
  }
  // Whether the windows are a matrix as they lie.
  bool reads_windows() const {
    const int64_t step = depth_step();
    if (step == 0 || (step != 1 && c_.rhs_out != 1)) return false;
    return !is_half(dtype_) || std::max(step, c_.rhs_out) % 8 == 0;
  }

  bool piece(const Piece& p, bool first, Kernels& out) {
    // Images and places are one axis.
    const bool flat = p.images == 1 || cells_ == 1 ||
                      (c_.out_batch == cells_ && (!direct_ || c_.lhs_batch == cells_));
    const int64_t n = p.images * p.cells, m = c_.out_features;
    for (int64_t f = 0; f < c_.in_features; f += features_) {
      const int64_t features = std::min(features_, c_.in_features - f), depth = features * taps_;
      Gemm gemm{.dtype = dtype_,
                .batches = flat ? 1 : p.images,
                .rows = m,
                .columns = flat ? n : p.cells,
                .depth = depth,
                .a = {0, c_.rhs_out, depth_step()},
                .b = {},
                .c = {},
                .epilogue = {},
                .adds = f > 0};
      Argument left = Argument::input(1, (p.group * c_.rhs_group + f * c_.rhs_in) * bytes_);
      if (!reads_windows()) {
        gemm.a = {0, rounded(depth), 1};
        left = Argument::workspace(windows_at_);
        if (first || features_ < c_.in_features)
          copy_windows(p.group, f, features, rounded(depth), out);
      }
      const int64_t offset = p.group * c_.lhs_group + p.image * c_.lhs_batch + f * c_.lhs_feature;
      Argument right = Argument::input(0, offset * bytes_);
      if (direct_) {
        gemm.b = flat ? std::array<int64_t, 3>{0, c_.lhs_feature, cells_ == 1 ? c_.lhs_batch : 1}
                      : std::array<int64_t, 3>{c_.lhs_batch, c_.lhs_feature, 1};
      } else {
        right = Argument::workspace(columns_at_);
        gemm.b = write_columns(p, flat, offset, features, out);
      }
      const int64_t at = p.group * c_.out_group + p.image * c_.out_batch + p.cell;
      Argument to = Argument::output(0, at * bytes_);
      gemm.c = flat ? std::array<int64_t, 3>{0, c_.out_feature, cells_ == 1 ? c_.out_batch : 1}
                    : std::array<int64_t, 3>{c_.out_batch, c_.out_feature, 1};
      if (adds_apart()) {
        gemm.result = Dtype::kFloat32;
        gemm.c = {m * p.cells, flat ? n : p.cells, 1};
        to = Argument::workspace(sums_at_);
      }
      const std::shared_ptr<const LibraryCall> call = product(gemm);
      if (call == nullptr) return false;
      out.steps.push_back(Call{call, {left, right, to, Argument::workspace(gemm_at_)}});
    }
    if (adds_apart()) convert_sums(p, flat, out);
    return true;
  }

  // The matrix of a piece; returns its steps along batch, depth and columns.
  std::array<int64_t, 3> write_columns(const Piece& p, bool flat, int64_t offset, int64_t features,
                                       Kernels& out) const {
    const int64_t depth = features * taps_;
    Columns m{.offset = offset,
              .images = p.images,
              .features = features,
              .first_cell = p.cell,
              .cells = p.cells,
              .to = columns_at_,
              .image = 0,
              .feature = taps_,
              .cell = 1,
              .tap = 1,
              .cells_inside = deep_};
    if (deep_) {
      m.cell = rounded(depth);
      m.image = p.cells * m.cell;
      columns_kernel(args_, c_, m, out);
      return {m.image, 1, m.cell};
    }
    m.tap = rounded(flat ? p.images * p.cells : p.cells);
    m.feature = taps_ * m.tap;
    m.image = flat ? p.cells : depth * m.tap;
    columns_kernel(args_, c_, m, out);
    return {m.image, m.tap, 1};
  }

  void copy_windows(int64_t group, int64_t feature, int64_t features, int64_t row,
                    Kernels& out) const {
    const Strided from{
        of_input(1), group * c_.rhs_group + feature * c_.rhs_in, {c_.rhs_out, c_.rhs_in, 1}},
        to{of_workspace(windows_at_), 0, {row, taps_, 1}};
    strided_copy(args_, {c_.out_features, features, taps_}, bytes_, from, to, out);
  }

  // Sums of halves are f32 until all pieces of the depth are added.
  void convert_sums(const Piece& p, bool flat, Kernels& out) const {
    KernelBuilder kernel("convert_sums", args_);
    kernel.workspace("const sp::f32", "sums", sums_at_);
    const std::string y = kernel.output(0);
    kernel.value("offset", p.group * c_.out_group + p.image * c_.out_batch + p.cell);
    const int64_t m = c_.out_features, n = p.images * p.cells;
    const Shape from = flat ? Shape{p.cells, n, 1} : Shape{m * p.cells, p.cells, 1};
    std::string body = "    sp::i64 p = 0, q = offset;\n";
    body += walk_of({p.images, m, p.cells}, {from, {c_.out_batch, c_.out_feature, 1}})
                .places(kernel, "a", "i", {"p", "q"});
    body += "    " + y + "[q] = sp::narrow<" + std::string(text_type(dtype_)) + ">(sums[p]);\n";
    out.steps.push_back(kernel.for_each(m * n, body));
  }

  // Pieces of one size share a product.
  std::shared_ptr<const LibraryCall> product(const Gemm& g) {
    const auto [at, fresh] =
        products_.try_emplace({g.batches, g.columns, g.depth, g.adds ? 1 : 0}, nullptr);
    if (fresh) at->second = gemm_call(g);
    return at->second;
  }

  const PrepareArgs& args_;
  const ConvPlan& c_;
  Dtype dtype_;
  int64_t bytes_, cells_, taps_;
  bool deep_;            // taps are neighbours in the matrix, else places of the output
  bool direct_ = false;  // lhs is the matrix
  int64_t images_ = 0, features_ = 0, part_ = 0;  // of a piece, the last in places of the output
  int64_t gemm_at_ = 0, columns_at_ = 0, windows_at_ = 0, sums_at_ = 0;
  std::map<std::array<int64_t, 4>, std::shared_ptr<const LibraryCall>> products_;
};

}  // namespace

std::optional<Kernels> library_convolution(const PrepareArgs& args, const ConvPlan& c) {
  if (!is_floating(args.out[0]->dtype) || c.groups > kMostGroups || !has_columns(c))
    return std::nullopt;
  if (c.in_features == 0 || c.window_size() == 0) return std::nullopt;
  Kernels out;
  if (!Convolution(args, c).write(out)) return std::nullopt;
  return out;
}

}  // namespace spruce::cuda
