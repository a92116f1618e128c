// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/ordering.h"

#include <algorithm>
#include <bit>

namespace spruce::cuda {
namespace {

constexpr int64_t kLocal = 2048;  // numbers that a block orders in shared memory

constexpr std::string_view kPairs = R"cuda(
namespace sp {
// Of `count` numbers in shared memory the pairs at distances from `by`, a power of two, down to 1.
template <class Number, class After>
SP void order_pairs(Number* held, int count, i64 row, i64 first, i64 size, int by,
                    const After& after) {
  for (; by > 0; by /= 2) {
    for (int t = threadIdx.x; t < count / 2; t += blockDim.x) {
      const int low = ((t & ~(by - 1)) << 1) | (t & (by - 1)), high = low + by;
      const bool up = ((first + low) & size) == 0;
      if (after(row, held[low], held[high]) == up) {
        const Number moved = held[low];
        held[low] = held[high];
        held[high] = moved;
      }
    }
    __syncthreads();
  }
}
}  // namespace sp
)cuda";

// The numbers of the elements of all rows, and kernels that order them. All are different, and
// those from n on stand behind the others.
struct Numbers {
  const PrepareArgs& args;
  const Ordering& ordering;
  Kernels& out;
  bool keyed;  // numbers hold their keys: the kernels after the first read nothing else
  const char* type;
  int64_t bytes;   // of one
  int64_t padded;  // how many a row has: a power of two
  int64_t offset = reserve(out, ordering.rows* padded* bytes);
  int64_t local = std::min(padded, kLocal);

  KernelBuilder kernel(const char* name) const;
  std::string key_text(KernelBuilder& kernel) const {
    return "  const auto key = [&](sp::i64 row, sp::i64 a) -> sp::u32 {\n" + ordering.key(kernel) +
           "  };\n";
  }
  void pieces(KernelBuilder& kernel, const std::string& load, bool merged = false) const;
  void order_pieces() const;
  void across(int64_t size, int64_t by, int64_t levels) const;
  void merge() const;
  void keep(int64_t kept);
};

// A kernel that declares numbers and their order.
KernelBuilder Numbers::kernel(const char* name) const {
  KernelBuilder made(name, args);
  made.front(ordered_key_text());
  made.workspace(type, "numbers", offset);
  made.value("n", ordering.n);
  made.begin("  typedef " + std::string(type) + " Number;\n");
  if (keyed) {
    made.begin("  const auto after = [](sp::i64, Number x, Number y) { return x > y; };\n");
    return made;
  }
  if (ordering.key) made.begin(key_text(made));
  made.begin("  const auto before = [&](sp::i64 row, sp::i64 a, sp::i64 b) -> bool {\n" +
             (ordering.key ? "    return key(row, a) < key(row, b);\n" : ordering.before(made)) +
             "  };\n"
             "  const auto after = [&](sp::i64 row, Number x, Number y) -> bool {\n"
             "    const sp::i64 a = x, b = y;\n"
             "    if (a >= n || b >= n) return a > b;\n"
             "    if (before(row, b, a)) return true;\n"
             "    return a > b && !before(row, a, b);\n  };\n");
  return made;
}

// Orders each piece of `local` numbers by a block in shared memory: from the beginning, or what the
// steps of `size` across pieces have left. `load` gives number `at` of a row, number `t` of a
// piece.
void Numbers::pieces(KernelBuilder& kernel, const std::string& load, bool merged) const {
  const int64_t pieces = padded / local, all = ordering.rows * pieces;
  kernel.front(kPairs);
  kernel.values({{"pieces", pieces}, {"all", all}});
  kernel.begin("  constexpr int local = " + std::to_string(local) + ";\n");
  const std::string text =
      "  __shared__ Number held[local];\n"
      "  for (sp::i64 i = blockIdx.x; i < all; i += gridDim.x) {\n"
      "    const sp::i64 row = i / pieces, first = i % pieces * local;\n"
      "    Number* const own = numbers + i * local;\n"
      "    for (int t = threadIdx.x; t < local; t += blockDim.x) {\n"
      "      const sp::i64 at = first + t;\n      held[t] = " +
      load + ";\n    }\n    __syncthreads();\n" +
      (merged ? "" : "    for (int size = 2; size <= local; size *= 2)\n") +
      "      sp::order_pairs(held, local, row, first, size, " + (merged ? "local" : "size") +
      " / 2, after);\n"
      "    for (int t = threadIdx.x; t < local; t += blockDim.x) own[t] = held[t];\n"
      "    __syncthreads();\n  }\n";
  out.steps.push_back(kernel.launch(text, {std::min(all, kMostBlocks)},
                                    {std::clamp<int64_t>(local / 2, 32, kThreads)}));
}

void Numbers::order_pieces() const {
  KernelBuilder kernel = this->kernel("order_pieces");
  if (keyed) kernel.begin(key_text(kernel));
  pieces(kernel, keyed ? "(at < n ? sp::u64(key(row, at)) : 0xffffffffull) << 32 | sp::u64(at)"
                       : "Number(at)");
}

// The steps of distances by << (levels - 1) down to `by`, of numbers that a thread holds.
void Numbers::across(int64_t size, int64_t by, int64_t levels) const {
  KernelBuilder kernel = this->kernel("order_across");
  const int64_t groups = padded >> levels;
  kernel.values({{"groups", groups},
                 {"bits", std::countr_zero(static_cast<uint64_t>(groups))},
                 {"padded", padded},
                 {"size", size},
                 {"by", by}});
  kernel.begin("  constexpr int levels = " + std::to_string(levels) + ", width = 1 << levels;\n");
  out.steps.push_back(kernel.for_each(
      ordering.rows * groups,
      "    const sp::i64 row = i >> bits, t = i & (groups - 1),\n"
      "                  low = ((t & ~(by - 1)) << levels) | (t & (by - 1));\n"
      "    Number* const own = numbers + row * padded + low;\n"
      "    const bool up = (low & size) == 0;\n"
      "    Number held[width];\n"
      "#pragma unroll\n    for (int j = 0; j < width; ++j) held[j] = own[j * by];\n"
      "#pragma unroll\n    for (int level = levels - 1; level >= 0; --level) {\n"
      "#pragma unroll\n      for (int j = 0; j < width; ++j) {\n"
      "        const int k = j | 1 << level;\n"
      "        if (k != j && after(row, held[j], held[k]) == up) {\n"
      "          const Number moved = held[j];\n"
      "          held[j] = held[k];\n          held[k] = moved;\n        }\n      }\n    }\n"
      "#pragma unroll\n    for (int j = 0; j < width; ++j) own[j * by] = held[j];\n"));
}

// Brings ordered pieces together.
void Numbers::merge() const {
  for (int64_t size = 2 * local; size <= padded; size *= 2) {
    for (int64_t distance = size / 2; distance >= local;) {
      int64_t by = distance, levels = 1;
      // A comparison that reads its elements is too long a text for more than one pair.
      for (; keyed && levels < 3 && by > local; by /= 2) ++levels;
      across(size, by, levels);
      distance = by / 2;
    }
    KernelBuilder kernel = this->kernel("merge_pieces");
    kernel.value("size", size);
    pieces(kernel, "own[t]", true);
  }
}

// Of ordered pieces the first `kept` numbers each, a power of two, again as ordered pieces, until
// there is one. Every other piece is in falling order.
void Numbers::keep(int64_t kept) {
  while (padded > local) {
    const int64_t from = offset, width = local, stride = padded;
    padded = padded / local * kept;
    local = std::min(padded, kLocal);
    offset = reserve(out, ordering.rows * padded * bytes);
    KernelBuilder kernel = this->kernel("order_kept");
    kernel.workspace(type, "from", from);
    kernel.values({{"stride", stride},
                   {"width", width},
                   {"kept", kept},
                   {"bits", std::countr_zero(static_cast<uint64_t>(kept))}});
    pieces(kernel,
           "from[row * stride + (at >> bits) * width +\n"
           "                     ((at & (kept - 1)) ^ (at >> bits & 1) * (width - 1))]");
  }
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
template <class T> SP u32 ordered_key32(T element) {
  if constexpr (Type<typename Compute<T>::type>::signed_integer)
    return u32(i32(element)) ^ 0x80000000u;
  else return u32(ordered_key(element));
}
SP i64 position_of(u32 number) { return i64(number); }
SP i64 position_of(i64 number) { return number; }
SP i64 position_of(u64 number) { return i64(u32(number)); }
}  // namespace sp
)cuda";
}

Ordered ordering_kernels(const PrepareArgs& args, const Ordering& o, Kernels& out) {
  const auto power = [](int64_t n) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(2, n))));
  };
  const int64_t padded = power(o.n), kept = power(o.wanted);
  const bool small = padded <= (int64_t{1} << 31), keyed = small && o.key != nullptr;
  const char* const type = keyed ? "sp::u64" : small ? "sp::u32" : "sp::i64";
  Numbers numbers{args, o, out, keyed, type, small && !keyed ? 4 : 8, padded};
  if (o.rows > 0 && o.n > 0) {
    numbers.order_pieces();
    if (2 * kept <= kLocal) {
      numbers.keep(kept);
    } else {
      numbers.merge();
    }
  }
  return {numbers.offset, numbers.padded, type};
}

}  // namespace spruce::cuda
