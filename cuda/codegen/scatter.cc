// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scatter.h"

#include <algorithm>

#include "spruce/cuda/codegen/ordering.h"
#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {
namespace {

constexpr std::string_view kCombine = R"cuda(
namespace sp {
template <class T> SP T lesser(T a, T b) { return b < a || b != b ? b : a; }
template <class T> SP T greater(T a, T b) { return a < b || b != b ? b : a; }
}  // namespace sp
)cuda";

// One update of an element after the other. `position` is an expression; the element is at
// `place`, and `value` is its computed value.
std::string update(KernelBuilder& kernel, const IndexWindows& to, const IndexWindows* source,
                   const std::string& position, const std::string& step, std::string_view combine) {
  std::string text = "    {\n";
  std::string at = "uto";
  if (source != nullptr) {
    text += source->locate(kernel, "u", kernel.input(3), position) +
            source->inside(kernel, "u", "ufrom", "uto", step);
    at = "ufrom";
  } else {
    // Where updates stand follows from the position alone.
    text += "    sp::i64 unused = 0, uto = 0;\n    {\n" +
            to.positions.places(kernel, "up", position, {"unused", "uto"}) + "    }\n" +
            to.inside(kernel, "uw", "unused", "uto", step);
  }
  const std::string read = "sp::widen(" + kernel.input(2) + "[" + at + "])";
  text += combine.empty() ? "    value = " + read + ";\n"
                          : "    value = " + std::string(combine) + "(value, " + read + ");\n";
  return text + "    }\n";
}

}  // namespace

Kernels scatter(const PrepareArgs& args, const IndexWindows& to, const IndexWindows* source,
                std::string_view combine) {
  Kernels out;
  const Dtype d = args.out[0]->dtype;
  const std::string type(text_type(d)), computed(compute_type(d));
  whole_copy(args, 0, 0, out);
  const int64_t positions = to.positions.size(), window = to.window.size();
  if (positions == 0 || window == 0 || args.out[0]->numel() == 0) return out;

  if (positions == 1 || to.overlapping) {
    // One position after the other: of several, by a single block.
    KernelBuilder kernel("scatter_in_turn", args);
    kernel.front(kCombine);
    const std::string indices = kernel.input(1), y = kernel.output(0);
    kernel.value("positions", positions);
    kernel.value("window", window);
    std::string text =
        "  for (sp::i64 p = 0; p < positions; ++p) {\n"
        "    for (sp::i64 i = sp::i64(blockIdx.x) * blockDim.x + threadIdx.x; i < window;\n"
        "         i += sp::i64(gridDim.x) * blockDim.x) {\n";
    text += to.locate(kernel, "s", indices, "p") + "    if (sfrom < 0) continue;\n" +
            to.inside(kernel, "s", "sfrom", "sto", "i") + "    " + computed +
            " value = sp::widen(" + y + "[sfrom]);\n";
    text += update(kernel, to, source, "p", "i", combine);
    text += "    " + y + "[sfrom] = sp::narrow<" + type +
            ">(value);\n    }\n    __syncthreads();\n  }\n";
    out.steps.push_back(kernel.launch(text, {positions == 1 ? blocks_for(window, 256) : 1}, {256}));
    return out;
  }

  // Where each position begins, and the positions in that order.
  const int64_t places = reserve(out, positions * 8);
  {
    KernelBuilder kernel("locate", args);
    const std::string indices = kernel.input(1);
    kernel.workspace("sp::i64", "places", places);
    out.steps.push_back(kernel.for_each(
        positions, to.locate(kernel, "s", indices, "i") + "    places[i] = sfrom;\n"));
  }
  const Ordered order = ordering_kernels(args,
                                         {1, positions,
                                          [&](KernelBuilder& kernel) -> std::string {
                                            kernel.workspace("sp::i64", "places", places);
                                            return "    return places[a] < places[b];\n";
                                          }},
                                         out);
  // The first position of each place takes the others of it in turn.
  KernelBuilder kernel("scatter", args);
  kernel.front(kCombine);
  const std::string y = kernel.output(0);
  kernel.workspace("sp::i64", "places", places);
  kernel.workspace(order.type, "order", order.offset);
  kernel.value("positions", positions);
  kernel.value("window", window);
  std::string body =
      "    sp::i64 at = i / window, unread = 0;\n    const sp::i64 step = i % window;\n"
      "    const sp::i64 place = places[order[at]];\n"
      "    if (place < 0 || (at > 0 && places[order[at - 1]] == place)) continue;\n"
      "    sp::i64 element = place;\n";
  body += to.inside(kernel, "s", "element", "unread", "step") + "    " + computed +
          " value = sp::widen(" + y +
          "[element]);\n"
          "    for (; at < positions && places[order[at]] == place; ++at) {\n"
          "    const sp::i64 position = order[at];\n";
  body += update(kernel, to, source, "position", "step", combine) + "    }\n    " + y +
          "[element] = sp::narrow<" + type + ">(value);\n";
  out.steps.push_back(kernel.for_each(positions * window, body));
  return out;
}

Kernels scatter(const PrepareArgs& args, std::string_view combine) {
  const IndexWindows to(args.params.get<GatherParams>(), args.in[0]->shape, args.in[2]->shape);
  return scatter(args, to, nullptr, combine);
}

}  // namespace spruce::cuda
