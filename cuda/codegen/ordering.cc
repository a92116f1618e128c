// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/ordering.h"

#include <algorithm>
#include <bit>

namespace spruce::cuda {
namespace {

constexpr int64_t kLocal = 2048;  // numbers that a block orders in shared memory

// The steps of one block: pairs at distances from `distance` down to 1 within its numbers.
constexpr std::string_view kSteps = R"cuda(
#define SP_PAIRS(local, row, first, size, distance)                                       \
  for (sp::i64 by = (distance); by > 0; by /= 2) {                                        \
    for (int t = threadIdx.x; t < local / 2; t += blockDim.x) {                           \
      const int low = int(t / by * 2 * by + t % by), high = low + int(by);                \
      const bool up = ((first + low) & (size)) == 0;                                      \
      if (after(row, held[low], held[high]) == up) {                                      \
        const Number moved = held[low];                                                   \
        held[low] = held[high];                                                           \
        held[high] = moved;                                                               \
      }                                                                                   \
    }                                                                                     \
    __syncthreads();                                                                      \
  }
)cuda";

// All numbers are different, and those from n on stand behind the others.
std::string after_text(const std::string& before, const char* type) {
  return "  typedef " + std::string(type) +
         " Number;\n"
         "  const auto before = [&](sp::i64 row, sp::i64 a, sp::i64 b) -> bool {\n" +
         before +
         "  };\n"
         "  const auto after = [&](sp::i64 row, Number x, Number y) -> bool {\n"
         "    const sp::i64 a = x, b = y;\n"
         "    if (a >= n || b >= n) return a > b;\n"
         "    if (before(row, b, a)) return true;\n"
         "    return a > b && !before(row, a, b);\n  };\n";
}

}  // namespace

std::string_view ordered_key_text() {
  return R"cuda(
namespace sp {
template <class T> SP u64 ordered_key(T element) {
  const auto x = widen(element);
  typedef typename Compute<T>::type C;
  if constexpr (Type<C>::floating) {
    typedef typename Type<C>::Bits Bits;
    if (x != x) return ~u64(0);
    const Bits sign = Bits(Bits(1) << (sizeof(Bits) * 8 - 1));
    const Bits bits = bit_cast<Bits>(C(x + C(0)));  // + 0 makes -0 to 0
    return u64((bits & sign) != 0 ? Bits(~bits) : Bits(bits | sign));
  } else if constexpr (Type<C>::signed_integer) {
    return u64(i64(x)) ^ 0x8000000000000000ull;
  } else {
    return u64(x);
  }
}
}  // namespace sp
)cuda";
}

Ordered ordering_kernels(const PrepareArgs& args, const Ordering& o, Kernels& out) {
  const auto padded =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(2, o.n))));
  const char* type = padded <= (int64_t{1} << 31) ? "sp::u32" : "sp::i64";
  const int64_t bytes = padded <= (int64_t{1} << 31) ? 4 : 8;
  Ordered made{reserve(out, o.rows * padded * bytes), padded, type};
  if (o.rows == 0 || o.n == 0) return made;
  const int64_t local = std::min(padded, kLocal), pieces = padded / local;
  const std::string width = std::to_string(local);

  // Orders pieces from the beginning (size == 0), or merges what the steps across pieces have left.
  const auto within = [&](int64_t size) {
    KernelBuilder kernel(size == 0 ? "order_pieces" : "merge_pieces", args);
    kernel.front(ordered_key_text());
    kernel.front(kSteps);
    kernel.workspace(type, "numbers", made.offset);
    kernel.value("n", o.n);
    kernel.value("pieces", pieces);
    kernel.value("all", o.rows * pieces);
    if (size != 0) kernel.value("size", size);
    std::string text = after_text(o.before(kernel), type);
    text += "  __shared__ Number held[" + width +
            "];\n"
            "  for (sp::i64 i = blockIdx.x; i < all; i += gridDim.x) {\n"
            "    const sp::i64 row = i / pieces, first = i % pieces * " +
            width +
            ";\n"
            "    Number* const own = numbers + i * " +
            width +
            ";\n"
            "    for (int t = threadIdx.x; t < " +
            width +
            "; t += blockDim.x)\n"
            "      held[t] = " +
            (size == 0 ? "Number(first + t)" : "own[t]") +
            ";\n"
            "    __syncthreads();\n";
    if (size == 0)
      text += "    for (sp::i64 size = 2; size <= " + width + "; size *= 2) {\n      SP_PAIRS(" +
              width + ", row, first, size, size / 2)\n    }\n";
    else
      text += "    SP_PAIRS(" + width + ", row, first, size, " + width + " / 2)\n";
    text += "    for (int t = threadIdx.x; t < " + width +
            "; t += blockDim.x) own[t] = held[t];\n    __syncthreads();\n  }\n";
    out.steps.push_back(kernel.launch(text, {std::min(o.rows * pieces, kMostBlocks)},
                                      {std::clamp<int64_t>(local / 2, 32, kThreads)}));
  };
  within(0);
  for (int64_t size = 2 * local; size <= padded; size *= 2) {
    for (int64_t by = size / 2; by >= local; by /= 2) {
      KernelBuilder kernel("order_across", args);
      kernel.front(ordered_key_text());
      kernel.workspace(type, "numbers", made.offset);
      kernel.value("n", o.n);
      kernel.value("half", padded / 2);
      kernel.value("size", size);
      kernel.value("by", by);
      const std::string begin = after_text(o.before(kernel), type);
      kernel.begin(begin);
      out.steps.push_back(kernel.for_each(
          o.rows * (padded / 2),
          "    const sp::i64 row = i / half, t = i % half, low = t / by * 2 * by + t % by;\n"
          "    Number* const own = numbers + row * 2 * half;\n"
          "    const Number a = own[low], b = own[low + by];\n"
          "    if (after(row, a, b) == ((low & size) == 0)) {\n"
          "      own[low] = b;\n      own[low + by] = a;\n    }\n"));
    }
    within(size);
  }
  return made;
}

}  // namespace spruce::cuda
