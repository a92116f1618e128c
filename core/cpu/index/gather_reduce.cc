// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/index/gather_reduce.h"

#include <algorithm>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/index/row_places.h"
#include "spruce/core/cpu/reduce/reduce.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 131072;  // elements that are worth a thread of their own
constexpr int64_t kShortest = 17;   // elements of a row that the loops do not join to others
constexpr int64_t kRows = kReducedRows;
constexpr int64_t kMostRows = kRows * kRows;  // that are reduced in two steps
constexpr int64_t kBytes = 16384;  // of rows that stay in the first-level cache until they are
                                   // reduced
constexpr int64_t kMostColumns = 2048;

// Lists of rows: those of a list follow each other, and so do the lists.
struct Lists {
  int64_t count = 1, length = 1, row = 1;
  bool fits = true;

  Lists(const GatherParams& g, const Shape& operand, const Shape& gathered, const Axes& axes) {
    const int positions = gathered.rank() - g.offset_dims.rank();
    for (int i = 0; i < gathered.rank(); ++i)
      (i >= positions ? row : axes.contains(i) ? length : count) *= gathered[i];
    for (const int64_t i : g.offset_dims) fits = fits && i >= positions;
    for (int i = 0; i < axes.rank(); ++i) fits = fits && axes[i] == positions - axes.rank() + i;
    fits = fits && row >= kShortest && length > 0 && length <= kMostRows;
    if (!fits) return;
    const Windows w(g, operand, View{}, gathered);
    fits = w.window.one_row();
  }
};

class Prepared final : public PreparedKernel {
 public:
  explicit Prepared(const PrepareArgs& args)
      : gather_(Params::make(args.params.get<GatherReduceParams>().gather())),
        gathered_(output_avals(gather_p, args.in, gather_)[0]),
        reduction_(*find_primitive(args.params.get<GatherReduceParams>().reduction)),
        reduce_(Params::make(ReduceParams{args.params.get<GatherReduceParams>().axes})),
        lists_(gather_.get<GatherParams>(), args.in[0]->shape, gathered_.shape,
               reduce_.get<ReduceParams>().axes),
        loops_(reduction_.cpu.reduce_loops(gathered_.dtype)),
        sums_rows_(reduction_.reduces_by() == Monoid::kSum &&
                   (gathered_.dtype == Dtype::kFloat32 || gathered_.dtype == Dtype::kBfloat16)) {
    if (lists_.fits) return;
    const Aval* in[] = {&gathered_};
    stored_bytes_ = workspace_size(static_cast<size_t>(gathered_.bytes())) +
                    reduce_workspace({in, args.out, reduce_});
  }

  void run(const KernelArgs& args) const override {
    const WorkspaceRegion region(args.workspace, stored_bytes_);
    const View &operand = args.in[0], &out = args.out[0];
    if (out.numel() == 0) return;
    if (!lists_.fits) return run_stored(args);
    const Windows w(gather_.get<GatherParams>(), operand.shape(), args.in[1], gathered_.shape);
    parallel_for(lists_.count, std::max<int64_t>(1, kGrain / (lists_.length * lists_.row)),
                 [&](int64_t begin, int64_t end) { run_lists(w, operand, out, begin, end); });
  }
  size_t workspace_bytes() const override { return stored_bytes_; }
  bool in_place(size_t, size_t) const override { return false; }

 private:
  void run_stored(const KernelArgs& args) const {
    const Workspace memory(static_cast<size_t>(gathered_.bytes()));
    const View gathered{memory.data(), &gathered_};
    gather_kernel({args.in, {&gathered, 1}, gather_});
    reduction_.cpu({{&gathered, 1}, args.out, reduce_});
  }

  void run_lists(const Windows& w, const View& operand, const View& out, int64_t begin,
                 int64_t end) const {
    const int64_t size = size_of(operand.dtype()), n = lists_.length;
    const int64_t columns =
        std::min({lists_.row, kMostColumns, kBytes / (std::min(n, kRows) * size)});
    RowPlaces places(w, begin * n, end * n);
    if (sums_rows_ && n <= kRows && columns == lists_.row)
      return sum_lists(places, operand, out, begin, end);
    for (int64_t list = begin; list < end; ++list) {
      for (int64_t column = 0; column < lists_.row; column += columns) {
        char* const to = out.as<char>() + (list * lists_.row + column) * size;
        RowCopy rows{operand.as<char>() + column * size, nullptr, 0, size,
                     std::min(columns, lists_.row - column) * size};
        reduce(places, list * n, rows, columns, to, out.dtype());
      }
    }
  }

  // Lists that are summed in one step, as many at once as places are found for.
  void sum_lists(RowPlaces& places, const View& operand, const View& out, int64_t begin,
                 int64_t end) const {
    alignas(64) float sums[kBytes / 4];
    const int64_t size = size_of(operand.dtype()), n = lists_.length, columns = lists_.row;
    const bool narrows = loops_.accumulator_bytes != size;
    const int64_t most = std::min(RowPlaces::kMost / n, kBytes / 4 / columns);
    RowCopy rows{operand.as<char>(), nullptr, 0, size, columns * size};
    for (int64_t list = begin; list < end; list += most) {
      const int64_t count = std::min(most, end - list);
      char* const to = out.as<char>() + list * columns * size;
      places.find(list * n, count * n, rows);
      sum_rows(rows, count, n, gathered_.dtype, narrows ? sums : reinterpret_cast<float*>(to));
      if (narrows) narrow(sums, reinterpret_cast<Bfloat16*>(to), count * columns);
    }
  }

  // The rows of one list, of which `columns` elements at most are wanted.
  void reduce(RowPlaces& places, int64_t first, RowCopy& rows, int64_t columns, char* to,
              Dtype dtype) const {
    alignas(64) char memory[kBytes], parts[2 * kBytes], sums[2 * kBytes];
    const int64_t n = lists_.length, blocks = ceil_div(n, kRows);
    const int64_t step = columns * rows.element_bytes, width = rows.bytes / rows.element_bytes;
    const bool narrows = loops_.accumulator_bytes != rows.element_bytes;
    char* const result = narrows ? sums : to;
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t count = std::min(kRows, n - block * kRows);
      places.find(first + block * kRows, count, rows);
      char* const part = blocks == 1 ? result : parts + block * columns * loops_.accumulator_bytes;
      if (sums_rows_) {
        sum_rows(rows, 1, count, gathered_.dtype, reinterpret_cast<float*>(part));
      } else {
        copy_rows(rows, count, memory, step);
        loops_.first(memory, part, 1, count, columns, width);
      }
    }
    if (blocks > 1) loops_.next(parts, result, 1, blocks, columns, width);
    if (!narrows) return;
    const float* wide = reinterpret_cast<const float*>(sums);
    if (dtype == Dtype::kFloat16)
      narrow(wide, reinterpret_cast<Float16*>(to), width);
    else
      narrow(wide, reinterpret_cast<Bfloat16*>(to), width);
  }

  Params gather_;
  Aval gathered_;
  const Primitive& reduction_;
  Params reduce_;
  Lists lists_;
  ReduceLoops loops_;
  bool sums_rows_;
  size_t stored_bytes_ = 0;  // of what the gather reads and of its reduction, where it is stored
};

}  // namespace

void gather_reduce_kernel(const KernelArgs& args) {
  const Aval *in[] = {args.in[0].aval, args.in[1].aval}, *out[] = {args.out[0].aval};
  Prepared({in, out, args.params}).run(args);
}

std::unique_ptr<const PreparedKernel> prepare_gather_reduce(const PrepareArgs& args) {
  return std::make_unique<const Prepared>(args);
}

}  // namespace spruce::cpu

namespace spruce {

bool rules::reduces_rows(const GatherParams& gather, const Shape& operand, const Shape& gathered,
                         const Axes& axes) {
  return cpu::Lists(gather, operand, gathered, axes).fits;
}

}  // namespace spruce
