// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/kernel_builder.h"

#include <algorithm>

namespace spruce::cuda {

int64_t blocks_for(int64_t n, int64_t threads) {
  return std::min(kMostBlocks, n / threads + (n % threads != 0 ? 1 : 0));
}

std::string counting_type(int64_t n) { return n < (int64_t{1} << 31) ? "sp::u32" : "sp::i64"; }

KernelBuilder::KernelBuilder(std::string name, const PrepareArgs& args)
    : args_(args),
      name_(std::move(name)),
      inputs_(args.in.size(), false),
      outputs_(args.out.size(), false) {}

void KernelBuilder::declare(const std::string& parameter, const Argument& argument) {
  if (!parameters_.empty()) parameters_ += ", ";
  parameters_ += parameter;
  arguments_.push_back(argument);
}

std::string KernelBuilder::input(size_t i) {
  return input_bits(i, std::string(text_type(args_.in[i]->dtype)));
}

std::string KernelBuilder::output(size_t i) {
  return output_bits(i, std::string(text_type(args_.out[i]->dtype)));
}

std::string KernelBuilder::input_bits(size_t i, const std::string& type) {
  const std::string number = std::to_string(i), name = "x" + number;
  if (inputs_[i]) return name;
  inputs_[i] = true;
  if (is_host_number(*args_.in[i])) {
    declare("const " + type + " number" + number, Argument::host_input(i));
    begin_ += "  const " + type + "* const " + name + " = &number" + number + ";\n";
  } else {
    declare("const " + type + "* " + name, Argument::input(i));
  }
  return name;
}

std::string KernelBuilder::output_bits(size_t i, const std::string& type) {
  const std::string name = "y" + std::to_string(i);
  if (outputs_[i]) return name;
  outputs_[i] = true;
  declare(type + "* " + name, Argument::output(i));
  return name;
}

void KernelBuilder::workspace(std::string_view type, std::string_view name, int64_t byte_offset) {
  if (!workspaces_.insert(std::string(name)).second) return;
  declare(std::string(type) + "* " + std::string(name), Argument::workspace(byte_offset));
}

void KernelBuilder::value(std::string_view name, int64_t v) {
  declare("const sp::i64 " + std::string(name), Argument::of(v));
}

void KernelBuilder::values(std::initializer_list<std::pair<const char*, int64_t>> named) {
  for (const auto& [name, v] : named) value(name, v);
}

void KernelBuilder::number(std::string_view name, Dtype dtype, double v) {
  const bool wide = dtype == Dtype::kFloat64;
  declare(std::string(wide ? "const sp::f64 " : "const sp::f32 ") + std::string(name),
          wide ? Argument::of(v) : Argument::of(static_cast<float>(v)));
}

Launch KernelBuilder::launch(std::string_view body, Dim3 grid, Dim3 block,
                             int64_t shared_bytes) const {
  Launch made;
  // Of so many threads the compiler takes no more registers than a multiprocessor has; 256 always
  // have enough, and for them it spills less without a bound.
  const int64_t threads = block.x * block.y * block.z;
  const std::string bounds =
      threads > 256 ? "__launch_bounds__(" + std::to_string(threads) + ") " : std::string();
  made.text = std::string(scalar_prelude()) + front_ + "extern \"C\" __global__ void " + bounds +
              name_ + "(" + parameters_ + ") {\n" + begin_ + std::string(body) + "}\n";
  made.name = name_;
  made.grid = grid;
  made.block = block;
  made.shared_bytes = shared_bytes;
  made.arguments = arguments_;
  return made;
}

Launch KernelBuilder::for_each(int64_t n, std::string_view body) const {
  KernelBuilder with = *this;
  with.value("count", n);
  // Most threads have one element: a loop that is unrolled counts its turns by a division first.
  const std::string loop =
      "#pragma unroll 1\n"
      "  for (sp::i64 i = sp::i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count;\n"
      "       i += sp::i64(gridDim.x) * blockDim.x) {\n" +
      std::string(body) + "  }\n";
  return with.launch(loop, {blocks_for(n, kThreads)}, {kThreads});
}

}  // namespace spruce::cuda
