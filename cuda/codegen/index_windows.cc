// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/index_windows.h"

#include <algorithm>

namespace spruce::cuda {

IndexWindows::IndexWindows(const GatherParams& p, const Shape& operand, const Shape& result)
    : clip_(p.clip), wraps_(p.wraps) {
  const Shape in = row_major_strides(operand), to = row_major_strides(result);
  int kept = 0;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (p.collapsed_dims.contains(axis) || p.operand_batch_dims.contains(axis)) continue;
    window.add(p.window[axis], {in[axis], to[p.offset_dims[kept++]]});
  }
  int position = 0;
  for (int axis = 0; axis < result.rank(); ++axis) {
    if (p.offset_dims.contains(axis)) continue;
    int64_t along = 0;
    for (int i = 0; i < p.indices_batch_dims.rank(); ++i) {
      if (p.indices_batch_dims[i] == position) along = in[p.operand_batch_dims[i]];
    }
    positions.add(result[axis], {along, to[axis]});
    ++position;
  }
  for (const int64_t axis : p.start_index_map) {
    stride_.push_back(in[axis]);
    limit_.push_back(operand[axis] - p.window[axis]);
    size_.push_back(operand[axis]);
    overlapping = overlapping || p.window[axis] > 1;
  }
}

int64_t IndexWindows::widen(int64_t bytes) {
  // Windows begin at whole values as well.
  Walk all = positions;
  for (const int64_t stride : stride_) all.axes.push_back({2, {stride, 0}});
  all.axes.insert(all.axes.end(), window.axes.begin(), window.axes.end());
  const int64_t count = window.axes.empty() ? 1 : neighbours(all, bytes);
  if (window.size() % count != 0) return 1;
  window = widened(std::move(window), count);
  return count;
}

std::string IndexWindows::locate(KernelBuilder& kernel, const std::string& prefix,
                                 const std::string& indices, const std::string& position) const {
  const std::string from = prefix + "from", to = prefix + "to",
                    keys = std::to_string(stride_.size());
  std::string text = "    sp::i64 " + from + " = 0, " + to + " = 0;\n    bool " + prefix +
                     "there = true;\n    {\n" +
                     positions.places(kernel, prefix + "p", position, {from, to});
  for (size_t k = 0; k < stride_.size(); ++k) {
    const std::string n = std::to_string(k), limit = prefix + "limit" + n,
                      stride = prefix + "stride" + n;
    kernel.value(limit, limit_[k]);
    kernel.value(stride, stride_[k]);
    // Numbers beyond int64 are as far outside as its largest.
    text += "    {\n      const auto entry = " + indices + "[(" + position + ") * " + keys + " + " +
            n +
            "];\n      sp::i64 at = sizeof(entry) == 8 && entry > 0 && sp::i64(entry) < 0 ? "
            "sp::most<sp::i64>() : sp::i64(entry);\n";
    if (wraps_) {
      kernel.value(prefix + "size" + n, size_[k]);
      text += "      if (at < 0) at += " + prefix + "size" + n + ";\n";
    }
    text += "      const sp::i64 most = " + limit + " > 0 ? " + limit +
            " : 0, in = at < 0 ? 0 : at > most ? most : at;\n";
    if (!clip_)
      text +=
          "      " + prefix + "there = " + prefix + "there && at == in && at <= " + limit + ";\n";
    text += "      " + from + " += in * " + stride + ";\n    }\n";
  }
  return text + "    }\n    if (!" + prefix + "there) " + from + " = -1;\n";
}

std::string IndexWindows::inside(KernelBuilder& kernel, const std::string& prefix,
                                 const std::string& from, const std::string& to,
                                 const std::string& step) const {
  return "    {\n" + window.places(kernel, prefix + "w", step, {from, to}) + "    }\n";
}

}  // namespace spruce::cuda
