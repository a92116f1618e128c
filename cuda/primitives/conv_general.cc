// SPDX-License-Identifier: Apache-2.0
// A product of the windows with what they lie on, for each group: columns are the places of the
// output, the depth is features times taps. By cuBLASLt, or for groups of few features one output
// at a time; by tiles in all other cases.
#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/conv_plan.h"
#include "spruce/cuda/codegen/narrow_convolution.h"
#include "spruce/cuda/codegen/tiles.h"
#include "spruce/cuda/products/convolution.h"

namespace spruce {
extern const Primitive conv_general_p;
}

namespace spruce::cuda {
namespace {

Kernels make_conv_general(const PrepareArgs& a) {
  Kernels out;
  if (a.out[0]->numel() == 0) return out;
  const ConvPlan c =
      plan_conv(a.in[0]->shape, a.in[1]->shape, a.out[0]->shape, a.params.get<ConvParams>());
  if (is_narrow(a, c)) {
    narrow_convolution(a, c, out);
    return out;
  }
  if (std::optional<Kernels> by_library = library_convolution(a, c)) return *std::move(by_library);
  const Dtype d = a.out[0]->dtype;
  KernelBuilder kernel("convolution", a);
  const std::string x = kernel.input(0), w = kernel.input(1), y = kernel.output(0);
  kernel.values({{"cells", c.out_size()},
                 {"taps", c.window_size()},
                 {"x_group", c.lhs_group},
                 {"x_batch", c.lhs_batch},
                 {"x_feature", c.lhs_feature},
                 {"w_group", c.rhs_group},
                 {"w_out", c.rhs_out},
                 {"w_in", c.rhs_in},
                 {"y_group", c.out_group},
                 {"y_batch", c.out_batch},
                 {"y_feature", c.out_feature}});
  std::string place =
      "        sp::i64 cell = n % cells, tap = k % taps, at = 0, size = 1;\n"
      "        bool inside = true;\n";
  for (int i = ConvPlan::kDims; i-- > 0;) {
    const std::string s = std::to_string(i);
    if (c.out[i] == 1 && c.window[i] == 1 && c.in[i] == 1 && c.low[i] == 0) continue;
    kernel.value("in" + s, c.in[i]);
    kernel.value("out" + s, c.out[i]);
    kernel.value("window" + s, c.window[i]);
    kernel.value("stride" + s, c.stride[i]);
    kernel.value("low" + s, c.low[i]);
    kernel.value("dilation" + s, c.dilation[i]);
    kernel.value("reach" + s, c.window_dilation[i]);
    const std::string tap =
        c.reversed ? "(window" + s + " - 1 - tap % window" + s + ")" : "(tap % window" + s + ")";
    place += "        {\n          const sp::i64 p = cell % out" + s + " * stride" + s + " - low" +
             s + " + " + tap + " * reach" + s + ";\n          cell /= out" + s +
             ";\n          tap /= window" + s +
             ";\n          inside = inside && p >= 0 && p % dilation" + s +
             " == 0 && p / dilation" + s + " < in" + s + ";\n          at += p / dilation" + s +
             " * size;\n          size *= in" + s + ";\n        }\n";
  }
  const Tiles t{c.groups,
                c.out_features,
                c.batch * c.out_size(),
                c.in_features * c.window_size(),
                d,
                true,
                false,
                "        value = sp::widen(" + w +
                    "[b * w_group + m * w_out + k / taps * w_in + k % taps]);\n",
                place + "        if (inside) value = sp::widen(" + x +
                    "[b * x_group + n / cells * x_batch + k / taps * x_feature + at]);\n",
                "        " + y +
                    "[b * y_group + n / cells * y_batch + m * y_feature + n % cells] = "
                    "sp::narrow<" +
                    std::string(text_type(d)) + ">(value);\n"};
  out.steps.push_back(tiles_kernel(kernel, t));
  return out;
}

}  // namespace

extern const Twin conv_general_twin = {&conv_general_p, make_conv_general};

}  // namespace spruce::cuda
