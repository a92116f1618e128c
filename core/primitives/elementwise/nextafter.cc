// SPDX-License-Identifier: Apache-2.0
// The next value after a toward b in the dtype.
#include <bit>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace {

template <class T, class Bits>
T next_after(T a, T b) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return b;
  if (a == T{}) return std::bit_cast<T>(static_cast<Bits>((std::bit_cast<Bits>(b) & kSign) | 1));
  const auto bits = std::bit_cast<Bits>(a);
  // Away from zero the bits grow, for both signs.
  const bool grows = (a < b) == ((bits & kSign) == 0);
  return std::bit_cast<T>(static_cast<Bits>(grows ? bits + 1 : bits - 1));
}

template <class T, class Bits>
void loop(const void* a, const void* b, void* y, int64_t n, int64_t a_step, int64_t b_step) {
  const T *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
  T* out = static_cast<T*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = next_after<T, Bits>(p[i * a_step], q[i * b_step]);
}

void kernel(const KernelArgs& args) {
  switch (args.out[0].dtype()) {
    case Dtype::kFloat16:
      return cpu::run_binary(args, loop<Float16, uint16_t>);
    case Dtype::kBfloat16:
      return cpu::run_binary(args, loop<Bfloat16, uint16_t>);
    case Dtype::kFloat32:
      return cpu::run_binary(args, loop<float, uint32_t>);
    default:
      return cpu::run_binary(args, loop<double, uint64_t>);
  }
}

}  // namespace

extern constinit const Primitive nextafter_p = {
    .name = "nextafter",
    .shape = rules::broadcast_floating,
    .cpu = kernel,
    .jvp = rules::jvp_binary<
        [](const Array&, const Array&, const Array&, const Array& t) { return t; },
        [](const Array&, const Array&, const Array&, const Array&) { return Array(); }>,
    .batch = rules::batch_elementwise,
    .samples = rules::binary_samples<-20, 20>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
