// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/dynamic_window.h"

#include "spruce/cuda/codegen/vectors.h"

namespace spruce::cuda {
namespace {

// Declares `start`, the offset of the window, in front of the body.
void window_start(KernelBuilder& kernel, const Shape& x, const Shape& window, size_t first) {
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
}

}  // namespace

Launch window_copy(KernelBuilder& kernel, const Shape& x, const Shape& window, size_t first,
                   int64_t bytes, const Place& array, const Place& other, bool into) {
  const std::string in = declare_bits(kernel, array, bytes),
                    out = declare_bits(kernel, other, bytes);
  window_start(kernel, x, window, first);
  Walk walk = walk_of(window, {row_major_strides(x), row_major_strides(window)});
  const int64_t count = neighbours(walk, bytes);
  walk = widened(std::move(walk), count);
  kernel.front(vector_prelude());
  kernel.value("elements", window.numel());
  const std::string n = std::to_string(count), inside = in + " + p", outside = out + " + q";
  std::string body = "    sp::i64 p = start, q = 0;\n" + walk.places(kernel, "a", "i", {"p", "q"});
  body += "    sp::move<" + n + ">(" + (into ? outside + ", " + inside : inside + ", " + outside) +
          ", elements - i * " + n + ");\n";
  return kernel.for_each(walk.size(), body);
}

}  // namespace spruce::cuda
