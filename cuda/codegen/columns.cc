// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/columns.h"

#include <algorithm>
#include <cstdlib>

#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {

bool has_columns(const ConvPlan& c) {
  constexpr int64_t kMost = int64_t{1} << 30;
  for (int d = 0; d < ConvPlan::kDims; ++d) {
    if (c.stride[d] > kMost || c.dilation[d] > kMost || c.window_dilation[d] > kMost ||
        std::abs(c.low[d]) > kMost || c.reach(d) > kMost || c.in[d] > kMost / c.dilation[d])
      return false;
  }
  return std::max({c.in_size(), c.out_size(), c.window_size()}) < kMost;
}

WindowText window_text(KernelBuilder& kernel, const ConvPlan& c, bool tap, bool given) {
  WindowText text;
  int open = 0;
  const int64_t *own = tap ? c.window : c.out, *other = tap ? c.out : c.window;
  for (int d = 0; d < ConvPlan::kDims; ++d) {
    if (c.in[d] == 1 && c.out[d] == 1 && c.window[d] == 1 && c.low[d] == 0) continue;
    const std::string s = std::to_string(d), p = "p" + s, o = "o" + s, q = "q" + s;
    // A window that is read backwards begins at its other end.
    const int64_t reach = c.reversed ? -c.window_dilation[d] : c.window_dilation[d],
                  base = (c.reversed ? (c.window[d] - 1) * c.window_dilation[d] : 0) - c.low[d];
    kernel.value("own" + s, own[d]);
    kernel.value("other" + s, other[d]);
    kernel.value("own_step" + s, tap ? reach : c.stride[d]);
    kernel.value("other_step" + s, tap ? c.stride[d] : reach);
    kernel.value("base" + s, base);
    kernel.value("in" + s, c.in[d]);
    text.own = "    const int " + p + " = int(cell % sp::u32(own" + s + ")) * int(own_step" + s +
               ") + int(base" + s + ");\n    cell /= sp::u32(own" + s + ");\n" + text.own;
    if (given) {
      text.other = "    const int " + o + " = int(place % sp::u32(other" + s +
                   "));\n    place /= sp::u32(other" + s + ");\n" + text.other;
      text.begin += "    {\n";
    } else {
      // Unrolled, such loops take more registers than there are for as many threads.
      text.begin += "#pragma unroll 1\n    for (int " + o + " = 0; " + o + " < int(other" + s +
                    "); ++" + o + ") {\n";
    }
    text.begin += "    const int r" + s + " = " + p + " + " + o + " * int(other_step" + s + ");\n";
    std::string inside = open > 0 ? "inside" + std::to_string(open - 1) + " && " : "";
    std::string index = "r" + s;
    if (c.dilation[d] != 1) {
      kernel.value("dilation" + s, c.dilation[d]);
      text.begin +=
          "    const sp::u32 " + q + " = sp::u32(r" + s + ") / sp::u32(dilation" + s + ");\n";
      inside +=
          "r" + s + " >= 0 && " + q + " * sp::u32(dilation" + s + ") == sp::u32(r" + s + ") && ";
      index = q;
    }
    const std::string n = std::to_string(open++);
    text.begin += "    const bool inside" + n + " = " + inside + "sp::u32(" + index +
                  ") < sp::u32(in" + s + ");\n    const int at" + n + " = " +
                  (open > 1 ? "at" + std::to_string(open - 2) + " * int(in" + s + ") + " : "") +
                  "int(" + index + ");\n";
    text.end += "    }\n";
  }
  const std::string last = std::to_string(open - 1);
  text.begin += "    const bool inside = " + (open > 0 ? "inside" + last : "true") +
                ";\n    const int at = " + (open > 0 ? "at" + last : "0") + ";\n";
  return text;
}

void columns_kernel(const PrepareArgs& args, const ConvPlan& c, const Columns& m, Kernels& out) {
  KernelBuilder kernel("columns", args);
  const int64_t bytes = size_of(args.in[0]->dtype);
  const std::string x = declare_bits(kernel, of_input(0), bytes);
  kernel.workspace(bits_type(bytes), "to", m.to);
  const WindowText text = window_text(kernel, c, m.cells_inside, false);
  const int64_t own = m.cells_inside ? c.window_size() : m.cells;
  kernel.values({{"own", own},
                 {"first", m.cells_inside ? 0 : m.first_cell},
                 {"features", m.features},
                 {"offset", m.offset},
                 {"x_image", c.lhs_batch},
                 {"x_feature", c.lhs_feature},
                 {"to_image", m.image},
                 {"to_feature", m.feature},
                 {"to_own", m.cells_inside ? m.tap : m.cell},
                 {"to_other", m.cells_inside ? m.cell : m.tap}});
  const int64_t count = m.images * m.features * own;
  const std::string type = counting_type(count);
  const std::string body =
      "    const " + type + " n = " + type + "(i), rest = n / " + type +
      "(own);\n    sp::u32 cell = sp::u32(n % " + type +
      "(own));\n"
      "    const sp::i64 image = rest / " +
      type + "(features), feature = rest % " + type +
      "(features);\n"
      "    const sp::i64 from = offset + image * x_image + feature * x_feature;\n"
      "    sp::i64 q = image * to_image + feature * to_feature + cell * to_own;\n"
      "    cell += sp::u32(first);\n" +
      text.own + text.begin + "    to[q] = inside ? " + x +
      "[from + at] : 0;\n    q += to_other;\n" + text.end;
  out.steps.push_back(kernel.for_each(count, body));
}

}  // namespace spruce::cuda
