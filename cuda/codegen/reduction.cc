// SPDX-License-Identifier: Apache-2.0
// Reductions. Where the innermost axis is reduced, threads side by side share a row; else each
// thread has its own column, of which several threads take parts. What few threads would have to
// read is cut into chunks, whose states a second kernel brings together. All orders are fixed.
#include <algorithm>

#include "spruce/cuda/codegen/loops.h"
#include "spruce/cuda/codegen/scalar_text.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kColumns = 32, kParts = kThreads / kColumns;  // of a block of columns
constexpr int64_t kBlocks = 1024;                               // so many keep a device busy
constexpr int64_t kChunk = 4096;     // elements that are worth a block of their own
constexpr int64_t kStateBytes = 16;  // at most

std::string state_of(const Reduction& r, Dtype d) {
  return "sp::" + r.name + "<" + std::string(compute_type(d)) + ">";
}

std::string finished(const Reduction& r, const std::string& state) {
  const std::string type(text_type(r.result));
  // Positions are sp::i64.
  if (r.name.starts_with("Arg"))
    return "sp::narrow<" + type + ">(" + type + "(" + state + ".result()))";
  return "sp::narrow<" + type + ">(" + state + ".result())";
}

int64_t threads_of_row(int64_t n) {
  int64_t threads = 1;
  while (threads < 32 && threads < n) threads *= 2;
  return n > 1024 ? kThreads : threads;
}

// How a reduced axis of n elements is cut if `blocks` take one chunk of each.
int64_t chunks_of(int64_t n, int64_t blocks) {
  if (blocks >= kBlocks / 2 || n < 2 * kChunk) return 1;
  return std::min({n / kChunk, kBlocks / std::max<int64_t>(1, blocks) + 1, int64_t{1024}});
}

// The loops around the elements of one kernel.
struct Parts {
  std::string begin;    // declares the places of loads
  std::string kept;     // moves them to an element of the result
  std::string reduced;  // moves copies of them to one element
  std::string element;  // reads and computes
  std::string value;    // what is reduced
};

std::string rows_text(const Parts& p, const std::string& state, int64_t threads,
                      const std::string& store) {
  return "  const int lane = threadIdx.x % " + std::to_string(threads) +
         ", group = threadIdx.x / " + std::to_string(threads) + ";\n  __shared__ " + state +
         " shared[32];\n"
         "  const sp::i64 first = sp::i64(blockIdx.y) * chunk;\n"
         "  const sp::i64 last = first + chunk < reduced ? first + chunk : reduced;\n"
         "  for (sp::i64 begin = sp::i64(blockIdx.x) * " +
         std::to_string(kThreads / threads) +
         "; begin < kept;\n       begin += sp::i64(gridDim.x) * " +
         std::to_string(kThreads / threads) +
         ") {\n"
         "    const sp::i64 row = begin + group;\n    " +
         state +
         " state;\n    state.start();\n"
         "    if (row < kept) {\n" +
         p.begin + p.kept +
         "    for (sp::i64 k = first + lane; k < last; k += " + std::to_string(threads) + ") {\n" +
         p.reduced + p.element + "      state.add(" + p.value +
         ", k);\n    }\n    }\n    state = sp::merge_threads<" + std::to_string(threads) +
         ">(state, shared);\n    if (lane == 0 && row < kept) " + store + "  }\n";
}

std::string columns_text(const Parts& p, const std::string& state, const std::string& store) {
  const std::string columns = std::to_string(kColumns), parts = std::to_string(kParts);
  return "  __shared__ " + state + " shared[" + parts + "][" + columns +
         "];\n"
         "  const sp::i64 first = sp::i64(blockIdx.y) * chunk;\n"
         "  const sp::i64 last = first + chunk < reduced ? first + chunk : reduced;\n"
         "  const int lane = threadIdx.x % " +
         columns + ", part = threadIdx.x / " + columns +
         ";\n  for (sp::i64 begin = sp::i64(blockIdx.x) * " + columns +
         "; begin < kept;\n       begin += sp::i64(gridDim.x) * " + columns +
         ") {\n"
         "    const sp::i64 row = begin + lane;\n    " +
         state +
         " state;\n    state.start();\n"
         "    if (row < kept) {\n" +
         p.begin + p.kept + "    for (sp::i64 k = first + part; k < last; k += " + parts + ") {\n" +
         p.reduced + p.element + "      state.add(" + p.value +
         ", k);\n    }\n    }\n    shared[part][lane] = state;\n    __syncthreads();\n"
         "    if (part == 0 && row < kept) {\n      for (int j = 1; j < " +
         parts + "; ++j) state.merge(shared[j][lane]);\n      " + store +
         "    }\n    __syncthreads();\n  }\n";
}

// Brings the states of chunks together: kept results of `chunks` states each, which stand one
// behind the other (rows), or `kept` elements apart.
Launch merge_kernel(const PrepareArgs& args, const Reduction& r, Dtype from, int64_t at,
                    int64_t kept, int64_t chunks, bool rows) {
  const std::string state = state_of(r, from);
  KernelBuilder kernel("merge", args);
  kernel.front(reduce_prelude());
  kernel.workspace(state, "states", at);
  kernel.value("chunks", chunks);
  kernel.value("kept", kept);
  const std::string y = declare(kernel, r.to, r.result);
  return kernel.for_each(kept,
                         "    " + state + " state = states[" + (rows ? "i * chunks" : "i") +
                             "];\n    for (sp::i64 k = 1; k < chunks; ++k) state.merge(states[" +
                             (rows ? "i * chunks + k" : "i + k * kept") + "]);\n    " + y +
                             "[i] = " + finished(r, "state") + ";\n");
}

}  // namespace

bool reduction_kernels(const PrepareArgs& args, const Graph& graph,
                       const std::map<ValueId, Place>& places, const Reduction& r, Kernels& out) {
  const Aval& from = graph.avals[static_cast<size_t>(r.from)];
  Expression expression(graph, places, from.shape);
  Parts parts;
  const int value = expression.value(r.from);
  if (value < 0) return false;
  parts.value = "v" + std::to_string(value);

  KernelBuilder kernel("reduce", args);
  if (needs_special(expression.program())) kernel.front(special_prelude());
  kernel.front(reduce_prelude());
  Walk kept, reduced;
  const auto& loads = expression.loads();
  for (int i = 0; i < from.shape.rank(); ++i) {
    std::vector<int64_t> steps;
    for (const Expression::Load& l : loads) steps.push_back(l.steps[i]);
    (r.axes.contains(i) ? reduced : kept).add(from.shape[i], std::move(steps));
  }
  const int64_t rows = kept.size(), n = reduced.size();
  if (rows == 0) return true;

  std::vector<std::string> base, place;
  for (size_t k = 0; k < loads.size(); ++k) {
    const std::string number = std::to_string(k);
    base.push_back("b" + number);
    place.push_back("p" + number);
    parts.begin += "    sp::i64 b" + number + " = 0;\n";
    parts.reduced += "      sp::i64 p" + number + " = b" + number + ";\n";
    const std::string pointer = declare(kernel, loads[k]);
    if (pointer.empty())
      parts.element += "      const sp::i64 e" + number + " = p" + number + ";\n";
    else
      parts.element += "      const " + std::string(compute_type(loads[k].dtype)) + " e" + number +
                       " = sp::widen(" + pointer + "[p" + number + "]);\n";
  }
  parts.kept = kept.places(kernel, "a", "row", base);
  parts.reduced += reduced.places(kernel, "r", "k", place);
  parts.element += scalar_text(expression.program(), {&value, 1});

  int innermost = -1;
  for (int i = 0; i < from.shape.rank(); ++i) {
    if (from.shape[i] != 1) innermost = i;
  }
  const bool columns = innermost >= 0 && !r.axes.contains(innermost) && rows >= kColumns;
  const int64_t threads = threads_of_row(n);
  const int64_t per_block = columns ? kColumns : kThreads / threads;
  const int64_t blocks = (rows + per_block - 1) / per_block;
  const int64_t chunks = chunks_of(n, blocks),
                chunk = std::max<int64_t>(1, (n + chunks - 1) / chunks);
  kernel.value("kept", rows);
  kernel.value("reduced", n);
  kernel.value("chunk", chunk);

  const std::string state = state_of(r, from.dtype);
  std::string store;
  int64_t at = 0;
  if (chunks == 1) {
    store = declare(kernel, r.to, r.result) + "[row] = " + finished(r, "state") + ";\n";
  } else {
    at = reserve(out, rows * chunks * kStateBytes);
    kernel.workspace(state, "states", at);
    store = columns ? "states[sp::i64(blockIdx.y) * kept + row] = state;\n"
                    : "states[row * gridDim.y + blockIdx.y] = state;\n";
  }
  const std::string text =
      columns ? columns_text(parts, state, store) : rows_text(parts, state, threads, store);
  out.steps.emplace_back(kernel.launch(text, {std::min(blocks, kMostBlocks), chunks}, {kThreads}));
  if (chunks > 1)
    out.steps.push_back(merge_kernel(args, r, from.dtype, at, rows, chunks, !columns));
  return true;
}

}  // namespace spruce::cuda
