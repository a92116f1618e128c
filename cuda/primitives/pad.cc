// SPDX-License-Identifier: Apache-2.0
// One thread for each element of the result, or for several neighbours, which looks up whether they
// are of the operand.
#include <algorithm>

#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/strided.h"
#include "spruce/cuda/codegen/vectors.h"

namespace spruce::cuda {
namespace {

struct PadAxis {
  int64_t out, in, low, gap, step;  // sizes of both sides; steps in the operand
};

// The axes, each that is not padded as a part of the one in front of it.
std::vector<PadAxis> axes_of(const PrepareArgs& a) {
  const auto& p = a.params.get<PadParams>();
  const Shape &x = a.in[0]->shape, &y = a.out[0]->shape, steps = input_strides(a, 0);
  std::vector<PadAxis> axes;
  for (int d = 0; d < x.rank(); ++d) {
    const PadAxis axis{y[d], x[d], p.low[d], p.interior[d] + 1, steps[d]};
    const bool plain = axis.out == axis.in && axis.low == 0 && axis.gap == 1;
    if (plain && axis.out == 1) continue;
    if (plain && !axes.empty() && axes.back().gap == 1 && axes.back().step == axis.step * axis.in) {
      PadAxis& front = axes.back();
      front = {front.out * axis.out, front.in * axis.in, front.low * axis.in, 1, axis.step};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

// How many neighbours are all of the operand or none.
int64_t together(const std::vector<PadAxis>& axes, int64_t bytes) {
  if (axes.empty() || axes.back().step != 1 || axes.back().gap != 1) return 1;
  const PadAxis& inner = axes.back();
  const auto fits = [&](int64_t n) {
    return inner.out % n == 0 && inner.in % n == 0 && inner.low % n == 0 &&
           std::all_of(axes.begin(), axes.end() - 1,
                       [&](const PadAxis& axis) { return axis.step % n == 0; });
  };
  int64_t n = 16 / bytes;
  while (!fits(n)) n /= 2;
  return n;
}

constexpr std::string_view kFind = R"cuda(
namespace sp {
// Moves p to what stands at `at` of an axis, whose elements are `gap` apart; false if nothing does.
template <class N> SP bool find(i64 at, i64 gap, i64 size, i64 step, i64& p) {
  const N from = at < 0 ? 0 : N(at), element = from / N(gap);
  p += element * step;
  return at >= 0 && element * N(gap) == from && element < size;
}
}  // namespace sp
)cuda";

// Statements that declare `p`, the place in the operand of number `i`, and whether it is `inside`.
std::string locate(KernelBuilder& kernel, const std::vector<PadAxis>& axes, int64_t count) {
  int64_t furthest = 1;
  for (const PadAxis& axis : axes) furthest *= axis.out;
  for (const PadAxis& axis : axes) furthest = std::max(furthest, axis.out - axis.low);
  const std::string type = counting_type(furthest);
  std::string text =
      "    " + type + " rest = " + type + "(i);\n    sp::i64 p = 0;\n    bool inside = true;\n";
  for (size_t d = axes.size(); d-- > 0;) {
    const PadAxis& axis = axes[d];
    const std::string n = std::to_string(d), size = type + "(n" + n + ")";
    const int64_t each = d + 1 == axes.size() ? count : 1;
    kernel.value("x" + n + "n", axis.in);
    kernel.value("low" + n, axis.low);
    kernel.value("s" + n, axis.step);
    if (axis.gap > 1) kernel.value("gap" + n, axis.gap);
    if (d > 0) kernel.value("n" + n, axis.out / each);
    text += "    inside = sp::find<" + type + ">(sp::i64(" + (d > 0 ? "rest % " + size : "rest") +
            ") * " + std::to_string(each) + " - low" + n + ", " + (axis.gap > 1 ? "gap" + n : "1") +
            ", x" + n + "n, s" + n + ", p) && inside;\n";
    if (d > 0) text += "    rest /= " + size + ";\n";
  }
  return text;
}

Kernels make_pad(const PrepareArgs& a) {
  const int64_t bytes = size_of(a.in[0]->dtype), n = a.out[0]->numel();
  Kernels out;
  if (n == 0) return out;
  KernelBuilder kernel("pad", a);
  const std::string from = declare_bits(kernel, of_input(0), bytes),
                    value = declare_bits(kernel, of_input(1), bytes),
                    to = declare_bits(kernel, of_output(0), bytes);
  const std::vector<PadAxis> axes = axes_of(a);
  const int64_t count = together(axes, bytes);
  std::string body = locate(kernel, axes, count);
  const std::string each = std::to_string(count), at = to + " + i * " + each;
  kernel.front(vector_prelude());
  kernel.front(kFind);
  kernel.begin("  " + std::string(bits_type(bytes)) + " filled[" + each +
               "];\n#pragma unroll\n  for (int j = 0; j < " + each + "; ++j) filled[j] = *" +
               value + ";\n");
  body += "    if (inside) sp::move<" + each + ">(" + from + " + p, " + at +
          ");\n    else sp::store<" + each + ">(filled, " + at + ");\n";
  out.steps.push_back(kernel.for_each(n / count, body));
  return out;
}

}  // namespace

extern const Twin pad_twin = {&pad_p, make_pad};

}  // namespace spruce::cuda
