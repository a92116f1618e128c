// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {

void Walk::add(int64_t size, std::vector<int64_t> steps) {
  if (size == 1) return;
  if (!axes.empty()) {
    Axis& last = axes.back();
    bool one = true;
    for (size_t k = 0; k < steps.size(); ++k) one = one && last.steps[k] == steps[k] * size;
    if (one) {
      last.size *= size;
      last.steps = std::move(steps);
      return;
    }
  }
  axes.push_back({size, std::move(steps)});
}

int64_t Walk::size() const {
  int64_t n = 1;
  for (const Axis& a : axes) n *= a.size;
  return n;
}

std::string Walk::places(KernelBuilder& kernel, std::string_view prefix, std::string_view index,
                         const std::vector<std::string>& names) const {
  const std::string p(prefix);
  const std::string type = counting_type(size());
  std::string text;
  if (axes.empty()) return text;
  text += "    " + type + " " + p + "rest = " + type + "(" + std::string(index) + ");\n";
  for (size_t a = axes.size(); a-- > 0;) {
    const std::string at = p + std::to_string(a);
    std::string coordinate = p + "rest";
    if (a > 0) {
      kernel.value(at + "n", axes[a].size);
      text += "    const " + type + " " + at + " = " + p + "rest % " + type + "(" + at + "n);\n";
      text += "    " + p + "rest /= " + type + "(" + at + "n);\n";
      coordinate = at;
    }
    for (size_t k = 0; k < names.size(); ++k) {
      const int64_t step = axes[a].steps[k];
      if (step == 0) continue;
      text += "    " + names[k] + " += sp::i64(" + coordinate + ")";
      if (step != 1) {
        const std::string name = at + "s" + std::to_string(k);
        kernel.value(name, step);
        text += " * " + name;
      }
      text += ";\n";
    }
  }
  return text;
}

Walk walk_of(const Shape& shape, const std::vector<Shape>& steps) {
  Walk walk;
  for (int i = 0; i < shape.rank(); ++i) {
    std::vector<int64_t> all;
    for (const Shape& s : steps) all.push_back(s[i]);
    walk.add(shape[i], std::move(all));
  }
  return walk;
}

Shape broadcast_steps(const Shape& from, const Shape& to) {
  return broadcast_steps(from, row_major_strides(from), to);
}

Shape broadcast_steps(const Shape& from, const Shape& strides, const Shape& to) {
  Shape steps = Shape::filled(to.rank(), 0);
  for (int i = 1; i <= from.rank(); ++i) {
    if (from[-i] != 1) steps[to.rank() - i] = strides[-i];
  }
  return steps;
}

Shape input_strides(const PrepareArgs& args, size_t i) {
  const Shape* strides = args.input_strides(i);
  return strides != nullptr ? *strides : row_major_strides(args.in[i]->shape);
}

Shape output_strides(const PrepareArgs& args, size_t k) {
  const Shape* strides = args.output_strides(k);
  return strides != nullptr ? *strides : row_major_strides(args.out[k]->shape);
}

}  // namespace spruce::cuda
