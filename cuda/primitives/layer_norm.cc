// SPDX-License-Identifier: Apache-2.0
// The mean in two parts, as rules::deviations().
#include "spruce/core/rules/layer_norm.h"

#include "spruce/cuda/codegen/rows.h"

namespace spruce::cuda {
namespace {

// Two sums that are made together.
constexpr std::string_view kSums = R"cuda(
template <class C> struct Sums {
  C rest, squares;
  SP_MEMBER void merge(const Sums& b) { rest += b.rest, squares += b.squares; }
};
)cuda";

// x[j] = x[j] op each element of `from`, or its only one.
std::string apply(const std::string& op, const std::string& from, bool is_one) {
  const std::string loop = "#pragma unroll\n      for (int j = 0; j < width; ++j) x[j] " + op;
  if (is_one) return loop + " sp::widen(" + from + "[0]);\n";
  return "      row.vector(each, " + from + " + k, aligned, there);\n" + loop + " each[j];\n";
}

Kernels make_layer_norm(const PrepareArgs& a) {
  Kernels out;
  KernelBuilder kernel("layer_norm", a);
  const std::string w = kernel.input(1), b = kernel.input(2);
  kernel.number("eps", a.in[0]->dtype, a.params.get<LayerNormParams>().eps);
  const std::string body = "    const bool aligned = ((sp::u64(" + w + ") | sp::u64(" + b +
                           ")) & 15) == 0;\n"
                           R"cuda(
    sp::Sum<C> sum;
    sum.start();
    row.each([&](sp::i64, int, C (&x)[width]) {
#pragma unroll
      for (int j = 0; j < width; ++j) sum.add(x[j], 0);
    });
    const C mean = row.all(sum).total / C(n);
    Sums<C> sums = {C(0), C(0)};
    row.each([&](sp::i64, int there, C (&x)[width]) {
#pragma unroll
      for (int j = 0; j < width; ++j) {
        const C d = j < there ? x[j] - mean : C(0);
        sums.rest += d;
        sums.squares += d * d;
      }
    });
    sums = row.all(sums);
    const C rest = sums.rest / C(n);
    C variance = sums.squares / C(n) - rest * rest;
    variance = variance < C(0) ? C(0) : variance;
    const C scale = C(1) / sp::sqrt(variance + eps);
    row.write([&](sp::i64 k, int there, C (&x)[width]) {
      C each[width];
#pragma unroll
      for (int j = 0; j < width; ++j) x[j] = (x[j] - mean - rest) * scale;
)cuda" + apply("*=", w, a.in[1]->numel() == 1) +
                           apply("+=", b, a.in[2]->numel() == 1) + "    });\n";
  out.steps.push_back(rows_kernel(kernel, a, "C(0)", body, kSums));
  return out;
}

}  // namespace

extern const Twin layer_norm_twin = {&layer_norm_p, make_layer_norm};

}  // namespace spruce::cuda
