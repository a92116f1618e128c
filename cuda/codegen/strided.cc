// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/strided.h"

#include "spruce/cuda/codegen/transpose.h"
#include "spruce/cuda/codegen/vectors.h"

namespace spruce::cuda {
namespace {

std::string offset_text(KernelBuilder& kernel, const std::string& name, int64_t offset) {
  if (offset == 0) return "0";
  kernel.value(name, offset);
  return name;
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
  kernel.front(vector_prelude());
  Walk walk = walk_of(shape, {from.steps, to.steps});
  int64_t count = neighbours(walk, bytes);
  while (count > 1 && (from.offset % count != 0 || to.offset % count != 0)) count /= 2;
  walk = widened(std::move(walk), count);
  const std::string x = declare_bits(kernel, from.place, bytes),
                    y = declare_bits(kernel, to.place, bytes);
  kernel.begin("  const sp::i64 p0 = " + offset_text(kernel, "from", from.offset) +
               ", q0 = " + offset_text(kernel, "to", to.offset) + ";\n");
  const int axis = transposed_axis(walk, count);
  if (axis >= 0) return transpose_kernel(kernel, {std::move(walk), x, y, bytes, count}, axis, out);
  std::string body = "    sp::i64 p = p0, q = q0;\n";
  body += walk.places(kernel, "a", "i", {"p", "q"});
  kernel.value("elements", shape.numel());
  const std::string n = std::to_string(count);
  body += "    sp::move<" + n + ">(" + x + " + p, " + y + " + q, elements - i * " + n + ");\n";
  out.steps.push_back(kernel.for_each(walk.size(), body));
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
