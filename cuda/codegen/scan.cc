// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scan.h"

#include <algorithm>

#include "spruce/core/rules/reduce.h"
#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kManyColumns = 4096;  // so many keep a device busy with a thread each
constexpr int64_t kShort = 32;

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
}  // namespace sp
)cuda";

}  // namespace

Kernels scan(const PrepareArgs& args, std::string_view name) {
  Kernels out;
  const Aval& x = *args.in[0];
  if (x.numel() == 0) return out;
  const auto& p = args.params.get<CumulativeParams>();
  const int64_t n = x.shape[p.axis], inner = row_major_strides(x.shape)[p.axis],
                columns = x.numel() / n;
  KernelBuilder kernel("scan", args);
  kernel.front(shuffle_prelude());
  kernel.front(reduce_prelude());
  kernel.front(kStates);
  const std::string from = kernel.input(0), to = kernel.output(0);
  const std::string type(text_type(x.dtype)),
      state = "sp::" + std::string(name) + "<" + std::string(compute_type(x.dtype)) + ">";
  kernel.value("n", n);
  kernel.value("inner", inner);
  kernel.value("step", p.reverse ? -inner : inner);
  kernel.value("begin", p.reverse ? (n - 1) * inner : 0);
  if (columns >= kManyColumns || n <= kShort) {
    out.steps.push_back(kernel.for_each(
        columns,
        "    sp::i64 p = i / inner * inner * n + i % inner + begin;\n    " + state +
            " state;\n    state.start();\n"
            "    for (sp::i64 k = 0; k < n; ++k, p += step) {\n      state.add(sp::widen(" +
            from + "[p]), k);\n      " + to + "[p] = sp::narrow<" + type +
            ">(state.now());\n    }\n"));
    return out;
  }
  // A block for each column, which takes a piece of it after the other: each thread a few
  // neighbours, then all states one after the other by doubling distances.
  kernel.value("columns", columns);
  const std::string text =
      "  typedef " + state +
      " State;\n  __shared__ State states[256];\n"
      "  const int t = threadIdx.x;\n"
      "  for (sp::i64 i = blockIdx.x; i < columns; i += gridDim.x) {\n"
      "    const sp::i64 column = i / inner * inner * n + i % inner + begin;\n"
      "    State carry;\n    carry.start();\n"
      "    for (sp::i64 piece = 0; piece < n; piece += 1024) {\n"
      "      const sp::i64 first = piece + t * 4;\n"
      "      State own[4], sum;\n      sum.start();\n"
      "#pragma unroll\n      for (int j = 0; j < 4; ++j) {\n"
      "        if (first + j < n) sum.add(sp::widen(" +
      from +
      "[column + (first + j) * step]), 0);\n"
      "        own[j] = sum;\n      }\n"
      "      states[t] = sum;\n      __syncthreads();\n"
      "      for (int by = 1; by < 256; by *= 2) {\n"
      "        State before;\n        if (t >= by) before = states[t - by];\n"
      "        __syncthreads();\n"
      "        if (t >= by) {\n          before.merge(states[t]);\n          states[t] = before;\n"
      "        }\n        __syncthreads();\n      }\n"
      "      State before = carry;\n      if (t > 0) before.merge(states[t - 1]);\n"
      "#pragma unroll\n      for (int j = 0; j < 4; ++j) {\n"
      "        State here = before;\n        here.merge(own[j]);\n"
      "        if (first + j < n) " +
      to + "[column + (first + j) * step] = sp::narrow<" + type +
      ">(here.now());\n      }\n"
      "      carry.merge(states[255]);\n      __syncthreads();\n    }\n  }\n";
  out.steps.push_back(kernel.launch(text, {std::min(columns, kMostBlocks)}, {kThreads}));
  return out;
}

}  // namespace spruce::cuda
