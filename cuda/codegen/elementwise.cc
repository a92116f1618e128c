// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels: a thread computes a few neighbours on the innermost axis, which it loads and
// stores as one vector of up to 16 bytes.
#include <algorithm>

#include "spruce/cuda/codegen/loops.h"
#include "spruce/cuda/codegen/scalar_text.h"
#include "spruce/cuda/codegen/vectors.h"

namespace spruce::cuda {
namespace {

bool is_input(const Expression::Load& l) { return l.place && l.place->kind == Place::Kind::kInput; }

// The targets that may stand in the memory of inputs: a thread reads there what it writes, and
// reads it first. Outputs of the kernels before this one stand in none that this one reads again.
void add_in_place(const std::vector<Expression::Load>& loads, const Graph& graph,
                  const std::vector<Target>& targets, const Shape& space, Kernels& out) {
  std::map<size_t, bool> dense;  // by input: every load of it is
  for (const Expression::Load& l : loads) {
    if (!is_input(l)) continue;
    bool& all = dense.try_emplace(l.place->index, true).first->second;
    all = all && is_dense(l.steps, space);
  }
  std::erase_if(out.in_place, [&](const InPlace& p) { return dense.count(p.input) > 0; });
  for (const Expression::Load& l : loads) {
    if (!is_input(l) || !dense.at(l.place->index)) continue;
    for (const Target& t : targets) {
      if (size_of(graph.avals[static_cast<size_t>(t.value)].dtype) == size_of(l.dtype))
        out.in_place.push_back({l.place->index, t.place.index});
    }
  }
}

}  // namespace

bool elementwise_kernel(const PrepareArgs& args, const Graph& graph,
                        const std::map<ValueId, Place>& places, const std::vector<Target>& targets,
                        Kernels& out) {
  const auto aval = [&](ValueId v) -> const Aval& { return graph.avals[static_cast<size_t>(v)]; };
  const Shape& space = aval(targets[0].value).shape;
  Expression expression(graph, places, space);
  std::vector<int> results;
  for (const Target& t : targets) {
    results.push_back(expression.value(t.value));
    if (results.back() < 0) return false;
  }
  if (space.numel() == 0) return true;

  std::vector<Shape> steps;
  int64_t largest = 1;
  const auto& loads = expression.loads();
  for (const Expression::Load& l : loads) {
    steps.push_back(l.steps);
    if (l.place) largest = std::max(largest, size_of(l.dtype));
  }
  for (const Target& t : targets) {
    steps.push_back(row_major_strides(space));
    largest = std::max(largest, size_of(aval(t.value).dtype));
  }
  Walk walk = walk_of(space, steps);
  const int64_t n = vector_size(walk, largest);
  const std::string count = std::to_string(n);

  KernelBuilder kernel("elementwise", args);
  if (needs_special(expression.program())) kernel.front(special_prelude());
  kernel.front(vector_prelude());
  std::vector<std::string> names;
  std::string begin, read, compute, write, addresses;
  for (size_t k = 0; k < loads.size(); ++k) {
    const std::string p = "p" + std::to_string(k), e = "e" + std::to_string(k),
                      l = "l" + std::to_string(k);
    const int64_t inner = walk.axes.empty() ? 0 : walk.axes.back().steps[k];
    names.push_back(p);
    begin += "    sp::i64 " + p + " = 0;\n";
    const std::string pointer = declare(kernel, loads[k]);
    if (pointer.empty()) {
      compute += "      const sp::i64 " + e + " = " + p + (inner != 0 ? " + j" : "") + ";\n";
    } else if (inner == 0 || n == 1) {
      read += "    const " + std::string(compute_type(loads[k].dtype)) + " " + e + " = sp::widen(" +
              pointer + "[" + p + "]);\n";
    } else {
      read += "    " + std::string(text_type(loads[k].dtype)) + " " + l + "[" + count +
              "];\n    sp::load<" + count + ">(" + l + ", " + pointer + " + " + p +
              ", aligned, there);\n";
      compute += "      const " + std::string(compute_type(loads[k].dtype)) + " " + e +
                 " = sp::widen(" + l + "[j]);\n";
      addresses += " | sp::u64(" + pointer + ")";
    }
  }
  compute += scalar_text(expression.program(), results);
  for (size_t k = 0; k < targets.size(); ++k) {
    const std::string q = "q" + std::to_string(k), s = "s" + std::to_string(k);
    const std::string type(text_type(aval(targets[k].value).dtype));
    names.push_back(q);
    begin += "    sp::i64 " + q + " = 0;\n";
    const std::string pointer = declare(kernel, targets[k].place, aval(targets[k].value).dtype);
    begin += "    " + type + " " + s + "[" + count + "];\n";
    compute +=
        "      " + s + "[j] = sp::narrow<" + type + ">(v" + std::to_string(results[k]) + ");\n";
    write +=
        "    sp::store<" + count + ">(" + s + ", " + pointer + " + " + q + ", aligned, there);\n";
    addresses += " | sp::u64(" + pointer + ")";
  }

  walk = widened(std::move(walk), n);
  const int64_t vectors = walk.size();
  kernel.value("vectors", vectors);
  kernel.value("elements", space.numel());
  std::string body =
      "  const bool aligned = ((sp::u64(0)" + addresses +
      ") & 15) == 0;\n"
      "#pragma unroll 1\n"
      "  for (sp::i64 i = sp::i64(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors;\n"
      "       i += sp::i64(gridDim.x) * blockDim.x) {\n"
      "    const sp::i64 there = elements - i * " +
      count + ";\n" + begin;
  body += walk.places(kernel, "a", "i", names) + read + "#pragma unroll\n    for (int j = 0; j < " +
          count + "; ++j) {\n" + compute + "    }\n" + write + "  }\n";
  out.steps.push_back(kernel.launch(body, {blocks_for(vectors, kThreads)}, {kThreads}));
  add_in_place(loads, graph, targets, space, out);
  return true;
}

int64_t reserve(Kernels& out, int64_t bytes) {
  const int64_t at = (out.workspace_bytes + 255) / 256 * 256;
  out.workspace_bytes = at + bytes;
  return at;
}

}  // namespace spruce::cuda
