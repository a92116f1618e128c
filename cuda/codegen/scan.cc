// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scan.h"

#include <algorithm>
#include <functional>

#include "spruce/core/rules/reduce.h"
#include "spruce/cuda/codegen/loops.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kManyColumns = 4096;  // so many keep a device busy with a thread or a warp each
constexpr int64_t kManyBlocks = 512;    // so many columns do so with a block each
constexpr int64_t kShort = 32;
constexpr int64_t kNeighbours = 8;     // columns side by side that threads read well
constexpr int64_t kStep = 1024;        // elements that a block takes at once
constexpr int64_t kLeastChunk = 4096;  // elements of a column that are worth a block
constexpr int64_t kMostChunks = 1024;  // of a column

constexpr std::string_view kStates = R"cuda(
namespace sp {
template <class T> struct Wide { typedef T type; };
template <> struct Wide<f32> { typedef f64 type; };
template <class T> struct RunningSum : Sum<typename Wide<T>::type> {
  SP_MEMBER T now() const { return T(this->total); }
};
template <class T> struct RunningProduct {
  typename Wide<T>::type total;
  SP_MEMBER void start() { total = 1; }
  SP_MEMBER void add(T x, i64) { total = mul(total, typename Wide<T>::type(x)); }
  SP_MEMBER void merge(const RunningProduct& b) { total = mul(total, b.total); }
  SP_MEMBER T now() const { return T(total); }
};
template <class T> struct RunningLargest : Largest<T> {
  SP_MEMBER T now() const { return this->best; }
};
template <class T> struct RunningSmallest : Smallest<T> {
  SP_MEMBER T now() const { return this->best; }
};
// The sum is total * exp(top), where top is the largest element so far.
template <class T> struct RunningLogSumExp {
  f64 top, total;
  SP_MEMBER void start() { top = -infinity<f64>(), total = 0; }
  SP_MEMBER void add(T x, i64) {
    RunningLogSumExp one;
    one.top = f64(x);
    one.total = 1;
    merge(one);
  }
  SP_MEMBER void merge(const RunningLogSumExp& b) {
    if (b.total == 0) return;
    if (total == 0) {
      top = b.top, total = b.total;
    } else if (b.top == top) {
      total += b.total;
    } else if (b.top < top) {
      total += b.total * exp(b.top - top);
    } else {  // NaN too, which stays
      total = total * exp(top - b.top) + b.total;
      top = b.top;
    }
  }
  SP_MEMBER T now() const { return T(total == 0 ? top : top + log(total)); }
};
template <class S> SP S shuffle_up(S s, int by) {
  return shuffled(s, [&](u32 word) { return __shfl_up_sync(0xffffffffu, word, by); });
}
// The states of the threads of a warp up to this one.
template <class S> SP S scan_warp(S s) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    S before = shuffle_up(s, by);
    before.merge(s);
    if (lane >= by) s = before;
  }
  return s;
}
// The states of a block's 256 threads before this one, and of all; `shared` has 8 entries.
template <class S> SP S scan_block(S s, S* shared, S& all) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  s = scan_warp(s);
  if (lane == 31) shared[warp] = s;
  s = shuffle_up(s, 1);
  __syncthreads();
  S before;
  before.start();
  all.start();
#pragma unroll 1
  for (int w = 0; w < 8; ++w) {
    const S one = shared[w];
    if (w < warp) before.merge(one);
    all.merge(one);
  }
  if (lane > 0) before.merge(s);
  __syncthreads();
  return before;
}
}  // namespace sp
)cuda";

// The columns of an array, and the texts that a kernel reads and writes them with.
struct Columns {
  Columns(const PrepareArgs& args, std::string_view name, Kernels& out);

  const PrepareArgs& args;
  Kernels& out;
  const std::string type, computed, state;
  int64_t n, inner, columns;
  bool reverse;

  // A kernel that declares them.
  KernelBuilder kernel(const char* name) const;
  // Where column `column` begins.
  static constexpr std::string_view kBegin =
      "    const sp::i64 begin = column / inner * inner * n + column % inner + first_row;\n";
  // Element k of the column at `begin`.
  std::string load(KernelBuilder& kernel, const std::string& k) const {
    return "sp::widen(" + kernel.input(0) + "[begin + (" + k + ") * step])";
  }
  std::string store(KernelBuilder& kernel, const std::string& k, const std::string& state) const {
    return kernel.output(0) + "[begin + (" + k + ") * step] = sp::narrow<" + type + ">(" + state +
           ".now());\n";
  }

  void by_threads() const;
  void by_warps() const;
  void by_blocks() const;

 private:
  struct Chunks {
    int64_t count, length;  // of a column
    int64_t totals;         // in the workspace, of several
  };
  void take_chunks(const char* name, const Chunks& chunks,
                   const std::function<std::string(KernelBuilder& kernel)>& body) const;
  void totals(const Chunks& chunks) const;
  void carries(const Chunks& chunks) const;
};

Columns::Columns(const PrepareArgs& a, std::string_view name, Kernels& kernels)
    : args(a),
      out(kernels),
      type(text_type(a.in[0]->dtype)),
      computed(compute_type(a.in[0]->dtype)),
      state("sp::" + std::string(name) + "<" + computed + ">") {
  const auto& p = a.params.get<CumulativeParams>();
  const Shape& shape = a.in[0]->shape;
  n = shape[p.axis], inner = row_major_strides(shape)[p.axis], columns = shape.numel() / n;
  reverse = p.reverse;
}

KernelBuilder Columns::kernel(const char* name) const {
  KernelBuilder made(name, args);
  made.front(shuffle_prelude());
  made.front(reduce_prelude());
  made.front(kStates);
  made.begin("  typedef " + state + " State;\n");
  made.values({{"columns", columns},
               {"n", n},
               {"inner", inner},
               {"step", reverse ? -inner : inner},
               {"first_row", reverse ? (n - 1) * inner : 0}});
  return made;
}

// A thread for each column. It reads a few elements before it writes the first of them.
void Columns::by_threads() const {
  KernelBuilder kernel = this->kernel("scan");
  const std::string body =
      "    const sp::i64 column = i;\n" + std::string(kBegin) +
      "    State state;\n    state.start();\n"
      "    for (sp::i64 k = 0; k < n; k += 4) {\n      " +
      computed +
      " next[4]{};\n"
      "#pragma unroll\n      for (int j = 0; j < 4; ++j)\n"
      "        if (k + j < n) next[j] = " +
      load(kernel, "k + j") +
      ";\n#pragma unroll\n      for (int j = 0; j < 4; ++j) {\n"
      "        if (k + j >= n) break;\n        state.add(next[j], 0);\n        " +
      store(kernel, "k + j", "state") + "      }\n    }\n";
  out.steps.push_back(kernel.for_each(columns, body));
}

// A warp for each column, whose elements are neighbours or nearly so. The next ones are read before
// the last ones are written.
void Columns::by_warps() const {
  KernelBuilder kernel = this->kernel("scan_rows");
  const std::string text =
      "  const int lane = threadIdx.x % 32;\n"
      "  for (sp::i64 column = sp::i64(blockIdx.x) * 8 + threadIdx.x / 32; column < columns;\n"
      "       column += sp::i64(gridDim.x) * 8) {\n" +
      std::string(kBegin) + "    State carry;\n    carry.start();\n    " + computed +
      " next{};\n    if (lane < n) next = " + load(kernel, "lane") +
      ";\n    for (sp::i64 k = lane; k - lane < n; k += 32) {\n"
      "      State one;\n      one.start();\n      if (k < n) one.add(next, 0);\n"
      "      if (k + 32 < n) next = " +
      load(kernel, "k + 32") +
      ";\n      one = sp::scan_warp(one);\n      State here = carry;\n      here.merge(one);\n"
      "      if (k < n) " +
      store(kernel, "k", "here") + "      carry.merge(sp::from_lane(one, 31));\n    }\n  }\n";
  out.steps.push_back(kernel.launch(text, {blocks_for(columns, 8)}, {kThreads}));
}

// A block for each chunk of each column, which runs over elements `from` to `end`.
void Columns::take_chunks(const char* name, const Chunks& chunks,
                          const std::function<std::string(KernelBuilder& kernel)>& body) const {
  KernelBuilder kernel = this->kernel(name);
  const int64_t all = columns * chunks.count;
  if (chunks.count > 1) kernel.workspace(state, "totals", chunks.totals);
  kernel.values({{"chunks", chunks.count}, {"length", chunks.length}, {"all", all}});
  const std::string text =
      "  __shared__ State shared[8];\n"
      "  for (sp::i64 i = blockIdx.x; i < all; i += gridDim.x) {\n"
      "    const sp::i64 column = i / chunks, from = i % chunks * length;\n"
      "    const sp::i64 end = from + length < n ? from + length : n;\n" +
      std::string(kBegin) + body(kernel) + "  }\n";
  out.steps.push_back(kernel.launch(text, {std::min(all, kMostBlocks)}, {kThreads}));
}

// What each chunk of each column comes to.
void Columns::totals(const Chunks& chunks) const {
  take_chunks("scan_totals", chunks, [&](KernelBuilder& kernel) {
    return "    State sum;\n    sum.start();\n"
           "#pragma unroll 4\n"
           "    for (sp::i64 k = from + threadIdx.x; k < end; k += 256) sum.add(" +
           load(kernel, "k") +
           ", 0);\n    sum = sp::merge_threads<256>(sum, shared);\n"
           "    if (threadIdx.x == 0) totals[i] = sum;\n";
  });
}

// In place of these what the chunks before each come to.
void Columns::carries(const Chunks& chunks) const {
  KernelBuilder kernel = this->kernel("scan_carries");
  kernel.workspace(state, "totals", chunks.totals);
  kernel.value("chunks", chunks.count);
  const std::string text =
      "  __shared__ State shared[8];\n"
      "  for (sp::i64 column = blockIdx.x; column < columns; column += gridDim.x) {\n"
      "    State* const own = totals + column * chunks;\n"
      "    State carry;\n    carry.start();\n"
      "    for (sp::i64 piece = 0; piece < chunks; piece += 256) {\n"
      "      const sp::i64 k = piece + threadIdx.x;\n"
      "      State one, all;\n      one.start();\n      if (k < chunks) one = own[k];\n"
      "      one = sp::scan_block(one, shared, all);\n"
      "      State before = carry;\n      before.merge(one);\n"
      "      if (k < chunks) own[k] = before;\n      carry.merge(all);\n    }\n  }\n";
  out.steps.push_back(kernel.launch(text, {std::min(columns, kMostBlocks)}, {kThreads}));
}

// A block for each column, or for each chunk of it where there are few columns; it takes kStep
// elements after the other, each thread four neighbours.
void Columns::by_blocks() const {
  Chunks chunks{1, n, 0};
  if (columns < kManyBlocks && n > kLeastChunk) {
    const int64_t least = std::max(kLeastChunk, (n - 1) / kMostChunks + 1);
    chunks.length = (least + kStep - 1) / kStep * kStep;
    chunks.count = (n - 1) / chunks.length + 1;
    chunks.totals = reserve(out, columns * chunks.count * kStateBytes);
    totals(chunks);
    carries(chunks);
  }
  take_chunks("scan_blocks", chunks, [&](KernelBuilder& kernel) {
    return std::string("    State carry;\n    ") +
           (chunks.count > 1 ? "carry = totals[i];\n" : "carry.start();\n") +
           "    for (sp::i64 piece = from; piece < end; piece += " + std::to_string(kStep) +
           ") {\n"
           "      const sp::i64 first = piece + threadIdx.x * 4;\n"
           "      State own[4], sum, all_of_it;\n      sum.start();\n"
           "#pragma unroll\n      for (int j = 0; j < 4; ++j) {\n"
           "        if (first + j < end) sum.add(" +
           load(kernel, "first + j") +
           ", 0);\n"
           "        own[j] = sum;\n      }\n"
           "      const State threads = sp::scan_block(sum, shared, all_of_it);\n"
           "      State before = carry;\n      before.merge(threads);\n"
           "#pragma unroll\n      for (int j = 0; j < 4; ++j) {\n"
           "        State here = before;\n        here.merge(own[j]);\n"
           "        if (first + j < end) " +
           store(kernel, "first + j", "here") + "      }\n      carry.merge(all_of_it);\n    }\n";
  });
}

}  // namespace

Kernels scan(const PrepareArgs& args, std::string_view name) {
  Kernels out;
  if (args.in[0]->numel() == 0) return out;
  const Columns columns(args, name, out);
  const bool many = columns.columns >= kManyColumns;
  if (columns.n <= kShort || (many && columns.inner >= kNeighbours)) {
    columns.by_threads();
  } else if (many) {
    columns.by_warps();
  } else {
    columns.by_blocks();
  }
  return out;
}

}  // namespace spruce::cuda
