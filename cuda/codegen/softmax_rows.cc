// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/softmax_rows.h"

#include "spruce/cuda/codegen/rows.h"

namespace spruce::cuda {
namespace {

// Rows that are not held are read once for both.
constexpr std::string_view kTotals = R"cuda(
    C m, total;
    if constexpr (Row::is_held) {
      sp::Largest<C> top;
      top.start();
      row.each([&](sp::i64, int, C (&x)[width]) {
#pragma unroll
        for (int j = 0; j < width; ++j) top.add(x[j], 0);
      });
      m = row.all(top).best;
      sp::Sum<C> sum;
      sum.start();
      row.each([&](sp::i64, int, C (&x)[width]) {
#pragma unroll
        for (int j = 0; j < width; ++j) {
          const C e = sp::exp(x[j] - m);
          sum.add(e, 0);
          if (exponentials) x[j] = e;
        }
      });
      total = row.all(sum).total;
    } else {
      Exponentials<C> sum;
      sum.start();
      row.each([&](sp::i64, int, C (&x)[width]) { sum.add(x); });
      sum = row.all(sum);
      m = sum.top, total = sum.total;
    }
)cuda";

constexpr std::string_view kExponentials = R"cuda(
// The sum of exp(x - top), where top is the largest x so far.
template <class C> struct Exponentials {
  C top, total;
  SP_MEMBER void start() { top = sp::least<C>(), total = C(0); }
  // The total as a sum below another top.
  SP_MEMBER C below(C other) const { return top == other ? total : total * sp::exp(top - other); }
  template <int width> SP_MEMBER void add(const C (&x)[width]) {
    sp::Largest<C> largest;
    largest.best = top;
#pragma unroll
    for (int j = 0; j < width; ++j) largest.add(x[j], 0);
    if (!(largest.best == top)) total = below(largest.best), top = largest.best;
    // Below -inf there is nothing, and -inf - -inf is NaN.
    if (top == sp::least<C>()) return;
#pragma unroll
    for (int j = 0; j < width; ++j) total += sp::exp(x[j] - top);
  }
  SP_MEMBER void merge(const Exponentials& b) {
    sp::Largest<C> largest;
    largest.best = top;
    largest.add(b.top, 0);
    total = below(largest.best) + b.below(largest.best);
    top = largest.best;
  }
};
)cuda";

}  // namespace

Kernels softmax_rows(const PrepareArgs& args, std::string name, bool exponentials,
                     std::string_view result) {
  Kernels out;
  KernelBuilder kernel(std::move(name), args);
  const std::string body =
      "    constexpr bool exponentials = " + std::string(exponentials ? "true" : "false") + ";\n" +
      std::string(kTotals) + std::string(result);
  out.steps.push_back(rows_kernel(kernel, args, "-sp::infinity<C>()", body, kExponentials));
  return out;
}

}  // namespace spruce::cuda
