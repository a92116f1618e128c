// SPDX-License-Identifier: Apache-2.0
// Kernels of gather and the scatters: a walk over index vectors times a walk over the window of
// each.
#pragma once

#include <array>
#include <concepts>
#include <memory>

#include "spruce/core/rules/gather.h"

namespace spruce::cpu {

/// How a scatter combines an element with its update.
enum class ScatterOp {
  kSet,  ///< the update
  kAdd,  ///< the sum
  kMul,  ///< the product
  kMin,  ///< the smaller one; NaN wins
  kMax   ///< the larger one; NaN wins
};

/// The kernel of gather.
void gather_kernel(const KernelArgs& args);
/// The kernel of all scatters.
void scatter(const KernelArgs& args, ScatterOp op);

/// The kernel of one scatter, as Primitive::cpu wants it.
template <ScatterOp kOp>
void scatter_kernel(const KernelArgs& args) {
  scatter(args, kOp);
}

/// The kernel of scatter_add_rows.
void scatter_add_rows_kernel(const KernelArgs& args);

/// A scatter that works in the memory of the operand alone. `sets`: elements are overwritten.
std::unique_ptr<const PreparedKernel> prepare_scatter(const PrepareArgs& args,
                                                      void (*kernel)(const KernelArgs&), bool sets);

template <ScatterOp kOp>
std::unique_ptr<const PreparedKernel> prepare_scatter_kernel(const PrepareArgs& args) {
  return prepare_scatter(args, scatter_kernel<kOp>, kOp == ScatterOp::kSet);
}
inline std::unique_ptr<const PreparedKernel> prepare_scatter_add_rows(const PrepareArgs& args) {
  return prepare_scatter(args, scatter_add_rows_kernel, false);
}

/// Nested loops over two memories at once; strides are in elements. Axes that can be one are
/// merged.
class Walk {
 public:
  /// Adds an axis inside of those before.
  void add(int64_t size, int64_t operand, int64_t result);
  /// Number of elements: the product of the sizes.
  int64_t size() const { return size_; }
  /// True if the innermost axis is dense in the result.
  bool rows() const { return rank_ > 0 && axes_[last()].result == 1; }

  /// True if a single run is all.
  bool one_run() const { return rank_ <= 1; }
  /// True if that run is dense in both memories.
  bool one_row() const { return one_run() && rows() && operand_step() == 1; }

  /// Calls f(operand offset, result offset, n) for the runs along the innermost axis within steps
  /// begin..end.
  template <class F>
  void runs(int64_t begin, int64_t end, const F& f) const {
    if (begin >= end) return;
    if (rank_ == 0) {
      f(int64_t{0}, int64_t{0}, int64_t{1});
      return;
    }
    const Axis& inner = axes_[last()];
    std::array<int64_t, kMaxRank + 1> index{};
    int64_t outer = begin / inner.size, within = begin % inner.size, operand = 0, result = 0;
    for (int k = rank_ - 2; k >= 0; --k) {
      index[k] = outer % axes_[k].size;
      outer /= axes_[k].size;
      operand += index[k] * axes_[k].operand;
      result += index[k] * axes_[k].result;
    }
    for (int64_t at = begin; at < end;) {
      const int64_t n = end - at < inner.size - within ? end - at : inner.size - within;
      f(operand + within * inner.operand, result + within * inner.result, n);
      at += n;
      within = 0;
      for (int k = rank_ - 2; k >= 0; --k) {
        operand += axes_[k].operand;
        result += axes_[k].result;
        if (++index[k] < axes_[k].size) break;
        operand -= axes_[k].operand * axes_[k].size;
        result -= axes_[k].result * axes_[k].size;
        index[k] = 0;
      }
    }
  }
  /// The strides within a run.
  int64_t operand_step() const { return rank_ > 0 ? axes_[last()].operand : 0; }
  int64_t result_step() const { return rank_ > 0 ? axes_[last()].result : 0; }

 private:
  struct Axis {
    int64_t size, operand, result;
  };
  int last() const { return rank_ - 1; }

  std::array<Axis, kMaxRank + 1> axes_;
  int rank_ = 0;
  int64_t size_ = 1;
};

/// An entry of an index vector, counted from the end of an axis of size `wrap` if it is negative;
/// without a branch, so that loops become ones of vectors.
template <std::signed_integral I>
constexpr I wrapped(I entry, I wrap) {
  return static_cast<I>(entry + ((entry >> (8 * sizeof(I) - 1)) & wrap));
}

/// Where the windows of a gather or a scatter lie.
struct Windows {
  /// `result` is what a gather fills, or the updates of a scatter.
  Windows(const GatherParams& params, const Shape& operand, const View& indices,
          const Shape& result);

  /// The first element of the windows at positions begin..end: in the operand (-1: outside, to be
  /// left out) and, unless that is null, in the result.
  void locate(int64_t begin, int64_t end, int64_t* in_operand, int64_t* in_result) const;

  /// Entries in each index vector.
  int keys() const { return keys_; }
  bool one_key() const { return keys_ == 1; }
  /// True if all positions are one list, of places in the same operand.
  bool one_list() const { return positions.one_run() && positions.operand_step() == 0; }
  /// Of one of them: the last place where a window may begin, the step of its axis in the operand,
  /// and whether one outside is moved to the nearest place.
  int64_t last_place(int key = 0) const { return limit_[static_cast<size_t>(key)]; }
  int64_t key_stride(int key = 0) const { return stride_[static_cast<size_t>(key)]; }
  bool clip() const { return clip_; }
  /// What is added to a negative entry: the size of its axis where they count from its end, else 0.
  int64_t wrap(int key = 0) const { return wrap_[static_cast<size_t>(key)]; }
  const View& indices() const { return indices_; }

  Walk positions;
  Walk window;
  int64_t batches = 1;       // parts of the positions that follow each other, with windows in parts
                             // of the operand that no other has
  bool overlapping = false;  // windows at different positions may meet without being the same

 private:
  template <class I>
  void locate_as(int64_t begin, int64_t end, int64_t* in_operand, int64_t* in_result) const;

  View indices_;
  bool clip_;
  int keys_ = 0;
  std::array<int64_t, kMaxRank>
      stride_;  // for each entry of an index vector: of its axis in the operand
  std::array<int64_t, kMaxRank> limit_;  // the last place where a window may begin
  std::array<int64_t, kMaxRank> wrap_;
};

}  // namespace spruce::cpu
