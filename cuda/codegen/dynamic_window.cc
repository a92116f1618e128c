// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/dynamic_window.h"

namespace spruce::cuda {

std::string window_start(KernelBuilder& kernel, const Shape& x, const Shape& window, size_t first) {
  kernel.front(R"cuda(
namespace sp {
template <class T> SP i64 clamped(T at, i64 last) {
  if constexpr (Same<T, u64>::value) return at > u64(last) ? last : i64(at);
  else return i64(at) < 0 ? 0 : i64(at) > last ? last : i64(at);
}
}  // namespace sp
)cuda");
  const Shape steps = row_major_strides(x);
  std::string text = "  sp::i64 start = 0;\n";
  for (int d = 0; d < x.rank(); ++d) {
    const std::string n = std::to_string(d), at = kernel.input(first + static_cast<size_t>(d));
    kernel.value("last" + n, x[d] - window[d]);
    kernel.value("step" + n, steps[d]);
    text += "  start += sp::clamped(*" + at + ", last" + n + ") * step" + n + ";\n";
  }

  kernel.begin(text);
  return "start";
}

}  // namespace spruce::cuda
