// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/strided.h"

#include <algorithm>

namespace spruce::cuda {
namespace {

constexpr int64_t kTile = 32, kTileRows = 8;

std::string offset_text(KernelBuilder& kernel, const std::string& name, int64_t offset) {
  if (offset == 0) return "0";
  kernel.value(name, offset);
  return name;
}

// Of a walk of (from, to): the axis along which `from` is dense, if it is not the innermost and a
// tile of both is worth its shared memory; else -1.
int turned_axis(const Walk& walk) {
  const int last = static_cast<int>(walk.axes.size()) - 1;
  if (last < 1 || walk.axes[static_cast<size_t>(last)].steps[1] != 1 ||
      walk.axes[static_cast<size_t>(last)].size < 8)
    return -1;
  for (int a = 0; a < last; ++a) {
    const Walk::Axis& axis = walk.axes[static_cast<size_t>(a)];
    if (axis.steps[0] == 1 && axis.size >= 8) return a;
  }
  return -1;
}

void tiled(KernelBuilder& kernel, Walk walk, int turned, const std::string& x, const std::string& y,
           std::string_view type, Kernels& out) {
  // The two axes of a tile: a row of it is dense in `from`, a column in `to`.
  const Walk::Axis across = walk.axes[static_cast<size_t>(turned)], down = walk.axes.back();
  walk.axes.pop_back();
  walk.axes.erase(walk.axes.begin() + turned);
  const int64_t tiles_across = (across.size + kTile - 1) / kTile,
                tiles_down = (down.size + kTile - 1) / kTile,
                tiles = tiles_across * tiles_down * walk.size();
  kernel.value("across", across.size);
  kernel.value("down", down.size);
  kernel.value("down_step", down.steps[0]);
  kernel.value("across_step", across.steps[1]);
  kernel.value("tiles_across", tiles_across);
  kernel.value("tiles_down", tiles_down);
  kernel.value("tiles", tiles);
  std::string text = "  __shared__ " + std::string(type) +
                     " tile[32][33];\n"
                     "  for (sp::i64 i = blockIdx.x; i < tiles; i += gridDim.x) {\n"
                     "    const sp::i64 a0 = i % tiles_across * 32, "
                     "d0 = i / tiles_across % tiles_down * 32;\n"
                     "    const sp::i64 which = i / tiles_across / tiles_down;\n"
                     "    sp::i64 p = p0, q = q0;\n";
  text += walk.places(kernel, "a", "which", {"p", "q"});
  text +=
      "    for (int r = threadIdx.y; r < 32; r += 8) {\n"
      "      const sp::i64 a = a0 + threadIdx.x, d = d0 + r;\n"
      "      if (a < across && d < down) tile[r][threadIdx.x] = " +
      x +
      "[p + a + d * down_step];\n"
      "    }\n    __syncthreads();\n"
      "    for (int r = threadIdx.y; r < 32; r += 8) {\n"
      "      const sp::i64 a = a0 + r, d = d0 + threadIdx.x;\n"
      "      if (a < across && d < down) " +
      y +
      "[q + a * across_step + d] = tile[threadIdx.x][r];\n"
      "    }\n    __syncthreads();\n  }\n";
  out.steps.push_back(kernel.launch(text, {std::min(tiles, kMostBlocks)}, {kTile, kTileRows}));
}

}  // namespace

std::string_view bits_type(int64_t bytes) {
  return bytes == 1 ? "sp::u8" : bytes == 2 ? "sp::u16" : bytes == 4 ? "sp::u32" : "sp::u64";
}

std::string declare_bits(KernelBuilder& kernel, const Place& place, int64_t bytes) {
  const std::string type(bits_type(bytes));
  switch (place.kind) {
    case Place::Kind::kInput:
      return kernel.input_bits(place.index, type);
    case Place::Kind::kOutput:
      return kernel.output_bits(place.index, type);
    default: {
      const std::string name = "w" + std::to_string(place.offset);
      kernel.workspace(type, name, place.offset);
      return name;
    }
  }
}

void strided_copy(const PrepareArgs& args, const Shape& shape, int64_t bytes, const Strided& from,
                  const Strided& to, Kernels& out) {
  if (shape.numel() == 0) return;
  KernelBuilder kernel("copy", args);
  const Walk walk = walk_of(shape, {from.steps, to.steps});
  const std::string x = declare_bits(kernel, from.place, bytes),
                    y = declare_bits(kernel, to.place, bytes);
  const std::string begin = "  const sp::i64 p0 = " + offset_text(kernel, "from", from.offset) +
                            ", q0 = " + offset_text(kernel, "to", to.offset) + ";\n";
  const int turned = turned_axis(walk);
  if (turned >= 0) {
    kernel.begin(begin);
    return tiled(kernel, walk, turned, x, y, bits_type(bytes), out);
  }
  kernel.begin(begin);
  std::string body = "    sp::i64 p = p0, q = q0;\n";
  body += walk.places(kernel, "a", "i", {"p", "q"});
  body += "    " + y + "[q] = " + x + "[p];\n";
  out.steps.push_back(kernel.for_each(shape.numel(), body));
}

void whole_copy(const PrepareArgs& args, size_t input, size_t output, Kernels& out) {
  const Aval& x = *args.in[input];
  if (x.numel() == 0) return;
  if (!is_host_number(x)) {
    out.steps.push_back(Copy{Argument::output(output), Argument::input(input), x.bytes()});
    out.in_place.push_back({input, output});
    return;
  }
  const Strided number{of_input(input), 0, {}}, to{of_output(output), 0, {}};
  strided_copy(args, {}, size_of(x.dtype), number, to, out);
}

}  // namespace spruce::cuda
