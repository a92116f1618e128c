// SPDX-License-Identifier: Apache-2.0
// Reductions. Where the innermost axis is reduced, threads side by side share a row; else each
// thread has its own column, of which several threads take parts. What few threads would have to
// read is cut into chunks, whose states a second kernel brings together. All orders are fixed.
#include <algorithm>

#include "spruce/cuda/codegen/loops.h"
#include "spruce/cuda/codegen/scalar_text.h"
#include "spruce/cuda/codegen/vectors.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kColumns = 32, kParts = kThreads / kColumns;  // of a block of columns
// So many blocks keep a device busy to the end, though they do not all fit on it at once.
constexpr int64_t kBlocks = 4096;
constexpr int64_t kLeastOfRow = 4096, kLeastOfColumns = 64;  // elements in a chunk

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

// For a row of n elements that are taken `width` at a time.
int64_t threads_of_row(int64_t n, int64_t width) {
  int64_t threads = 1;
  while (threads < 32 && threads * width < n) threads *= 2;
  return n > (width > 1 ? 512 * width : 1024) ? kThreads : threads;
}

// How a reduced axis of n elements is cut if `blocks` take one chunk of each. A second kernel costs
// as much as many elements.
int64_t chunks_of(int64_t n, int64_t blocks, int64_t least) {
  return n < 8 * least ? 1 : std::max<int64_t>(1, std::min(kBlocks / blocks, n / least));
}

// The statements within the loops of one kernel.
struct Parts {
  std::string begin;    // declares the places of loads
  std::string kept;     // moves them to an element of the result
  std::string take;     // declares the function that takes an element
  std::string one;      // takes element `k` of those that are reduced
  int64_t width = 1;    // so many neighbours are a vector, if not 1; then
  std::string aligned;  // says whether it can be loaded as such
  std::string many;     // takes the one that begins at `k`
};

std::string rows_text(const Parts& p, const std::string& state, int64_t threads,
                      const std::string& store) {
  const std::string lanes = std::to_string(threads), rows = std::to_string(kThreads / threads),
                    width = std::to_string(p.width), all = std::to_string(threads * p.width);
  const auto vectors = [&](const std::string& aligned, const std::string& unrolled) {
    return "      constexpr bool aligned = " + aligned + ";\n#pragma unroll " + unrolled +
           "\n    for (sp::i64 k = first + lane * " + width + "; k < full; k += " + all + ") {\n" +
           p.many + "    }\n";
  };
  std::string text = "  const int lane = threadIdx.x % " + lanes + ", group = threadIdx.x / " +
                     lanes + ";\n  __shared__ " + state +
                     " shared[32];\n"
                     "  const sp::i64 first = sp::i64(blockIdx.y) * chunk;\n"
                     "  const sp::i64 last = first + chunk < reduced ? first + chunk : reduced;\n";
  // What no vector takes.
  text += p.width == 1
              ? "  const sp::i64 rest = first;\n"
              : "  const sp::i64 full = last / " + width + " * " + width + ", rest = full;\n";
  text += "  for (sp::i64 begin = sp::i64(blockIdx.x) * " + rows +
          "; begin < kept;\n       begin += sp::i64(gridDim.x) * " + rows +
          ") {\n"
          "    const sp::i64 row = begin + group;\n    " +
          state + " state;\n    state.start();\n    if (row < kept) {\n" + p.begin + p.kept +
          p.take;
  if (p.width > 1)
    text += "    if (" + p.aligned + ") {\n" + vectors("true", "2") + "    } else {\n" +
            vectors("false", "1") + "    }\n#pragma unroll 1\n";
  return text + "    for (sp::i64 k = rest + lane; k < last; k += " + lanes + ") {\n" + p.one +
         "    }\n    }\n    state = sp::merge_threads<" + lanes +
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
         p.begin + p.kept + p.take + "    for (sp::i64 k = first + part; k < last; k += " + parts +
         ") {\n" + p.one +
         "    }\n    }\n    shared[part][lane] = state;\n    __syncthreads();\n"
         "    if (part == 0 && row < kept) {\n      for (int j = 1; j < " +
         parts + "; ++j) state.merge(shared[j][lane]);\n      " + store +
         "    }\n    __syncthreads();\n  }\n";
}

// Brings the states of chunks together: kept results of `chunks` states each, which stand one
// behind the other, or for columns `kept` elements apart.
Launch merge_kernel(const PrepareArgs& args, const Reduction& r, Dtype from, int64_t at,
                    int64_t kept, int64_t chunks, bool columns) {
  const std::string state = state_of(r, from);
  KernelBuilder kernel("merge", args);
  kernel.front(shuffle_prelude());
  kernel.front(reduce_prelude());
  kernel.workspace(state, "states", at);
  kernel.value("kept", kept);
  kernel.value("reduced", chunks);
  kernel.value("chunk", chunks);
  const std::string store =
      declare(kernel, r.to, r.result) + "[row] = " + finished(r, "state") + ";\n";
  const int64_t threads = chunks > 32 ? kThreads : 32;
  const int64_t per_block = columns ? kColumns : kThreads / threads;
  Parts parts;
  parts.one = columns ? "      state.merge(states[k * kept + row]);\n"
                      : "      state.merge(states[row * reduced + k]);\n";
  return kernel.launch(
      columns ? columns_text(parts, state, store) : rows_text(parts, state, threads, store),
      {blocks_for(kept, per_block)}, {kThreads});
}

// How many neighbours a thread takes at once.
int64_t width_of(const Walk& reduced, const std::vector<Expression::Load>& loads) {
  int64_t largest = 0;
  for (size_t k = 0; k < loads.size(); ++k) {
    if (loads[k].place && !reduced.axes.empty() && reduced.axes.back().steps[k] == 1)
      largest = std::max(largest, size_of(loads[k].dtype));
  }
  return largest == 0 ? 1 : vector_size(reduced, largest);
}

// What reads the elements; `element` computes with e0, e1, ..., one of each load.
void write_loads(KernelBuilder& kernel, const std::vector<Expression::Load>& loads,
                 const Walk& kept, const Walk& reduced, const std::string& element, Parts& parts) {
  const std::string width = std::to_string(parts.width);
  std::vector<std::string> base, place;
  std::string places, parameters, elements, one, neighbour, vectors;
  for (size_t k = 0; k < loads.size(); ++k) {
    const std::string number = std::to_string(k), b = "b" + number, p = "p" + number,
                      e = "e" + number, l = "l" + number, pointer = declare(kernel, loads[k]);
    const bool moves = !reduced.axes.empty() && reduced.axes.back().steps[k] == 1;
    base.push_back(b);
    place.push_back(p);
    parts.begin += "    sp::i64 " + b + " = 0;\n";
    places += "      sp::i64 " + p + " = " + b + ";\n";
    if (pointer.empty()) {
      parameters += ", sp::i64 " + e;
      one += ", " + p;
      neighbour += ", " + p + (moves ? " + j" : "");
      continue;
    }
    const std::string type(text_type(loads[k].dtype));
    parameters += ", " + type + " " + l;
    elements += "      const " + std::string(compute_type(loads[k].dtype)) + " " + e +
                " = sp::widen(" + l + ");\n";
    one += ", " + pointer + "[" + p + "]";
    neighbour += moves ? ", " + l + "[j]" : ", " + pointer + "[" + p + "]";
    if (!moves) continue;
    vectors += "      " + type + " " + l + "[" + width + "];\n      sp::load<" + width + ">(" + l +
               ", " + pointer + " + " + p + ", aligned, " + width + ");\n";
    parts.aligned += (parts.aligned.empty() ? "(sp::u64(" : " && (sp::u64(") + pointer + " + " + b +
                     ") & " + std::to_string(size_of(loads[k].dtype) * parts.width - 1) + ") == 0";
  }
  parts.kept = kept.places(kernel, "a", "row", base);
  places += reduced.places(kernel, "r", "k", place);
  parts.take = "    const auto take = [&](sp::i64 k" + parameters + ") {\n" + elements + element +
               "    };\n";
  parts.one = places + "      take(k" + one + ");\n";
  parts.many = places + vectors + "#pragma unroll\n      for (int j = 0; j < " + width +
               "; ++j) take(k + j" + neighbour + ");\n";
}

}  // namespace

bool reduction_kernels(const PrepareArgs& args, const Graph& graph,
                       const std::map<ValueId, Place>& places, const Reduction& r, Kernels& out) {
  const Aval& from = graph.avals[static_cast<size_t>(r.from)];
  Expression expression(graph, places, from.shape);
  Parts parts;
  const int value = expression.value(r.from);
  if (value < 0) return false;
  const bool special = needs_special(expression.program());

  KernelBuilder kernel("reduce", args);
  if (special) kernel.front(special_prelude());
  kernel.front(shuffle_prelude());
  kernel.front(reduce_prelude());
  kernel.front(vector_prelude());
  Walk kept, reduced;
  const auto& loads = expression.loads();
  for (int i = 0; i < from.shape.rank(); ++i) {
    std::vector<int64_t> steps;
    for (const Expression::Load& l : loads) steps.push_back(l.steps[i]);
    (r.axes.contains(i) ? reduced : kept).add(from.shape[i], std::move(steps));
  }
  const int64_t rows = kept.size(), n = reduced.size();
  if (rows == 0) return true;

  int innermost = -1;
  for (int i = 0; i < from.shape.rank(); ++i) {
    if (from.shape[i] != 1) innermost = i;
  }
  const bool columns = innermost >= 0 && !r.axes.contains(innermost) && rows >= kColumns;
  // Special functions take longer to compute than what they are of takes to read.
  if (!columns && !special) parts.width = width_of(reduced, loads);
  write_loads(kernel, loads, kept, reduced,
              scalar_text(expression.program(), {&value, 1}) + "      state.add(v" +
                  std::to_string(value) + ", k);\n",
              parts);

  const int64_t threads = threads_of_row(n, parts.width);
  const int64_t per_block = columns ? kColumns : kThreads / threads;
  const int64_t blocks = (rows + per_block - 1) / per_block;
  int64_t chunks = chunks_of(n, blocks, columns ? kLeastOfColumns : kLeastOfRow);
  // Each one begins with a whole vector, and none is empty.
  const int64_t vectors = (n + parts.width - 1) / parts.width,
                chunk = std::max<int64_t>(1, (vectors + chunks - 1) / chunks) * parts.width;
  chunks = std::max<int64_t>(1, (n + chunk - 1) / chunk);
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
  if (chunks > 1) out.steps.push_back(merge_kernel(args, r, from.dtype, at, rows, chunks, columns));
  return true;
}

}  // namespace spruce::cuda
