// SPDX-License-Identifier: Apache-2.0
// The elements in another dtype. Floats become integers toward zero, saturating, NaN as 0; anything
// becomes bool by x != 0; integers wrap among each other.
#include <bit>
#include <limits>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

Aval convert_element_type_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<ConvertParams>();
  return {p.dtype, p.weak, a.in[0]->shape};
}

// The largest F that is not above T's largest value.
template <class T, class F>
constexpr F largest() {
  constexpr int excess = std::numeric_limits<T>::digits - std::numeric_limits<F>::digits;
  if constexpr (excess <= 0)
    return static_cast<F>(std::numeric_limits<T>::max());
  else
    return static_cast<F>(std::numeric_limits<T>::max() >> excess << excess);
}

// `x` as a float that rounds to 16 bits as x itself does: what is cut off leaves its trace in the
// last bit.
SPRUCE_INLINE float sticky(double x) {
  const float nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || x != x) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if ((nearest > x) == (x > 0)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

template <class To, class From>
SPRUCE_INLINE To converted(From x) {
  if constexpr (kIsHalf<From>) {
    return converted<To, float>(static_cast<float>(x));
  } else if constexpr (kIsHalf<To>) {
    if constexpr (sizeof(From) < 4 || std::is_same_v<From, float>)
      return To(static_cast<float>(x));
    else
      return To(sticky(static_cast<double>(x)));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr From high = largest<To, From>(),
                   low = static_cast<From>(std::numeric_limits<To>::min());
    const From inside = x > high ? high : x >= low ? x : low;  // NaN becomes low here, 0 below
    const To value = x > high ? std::numeric_limits<To>::max() : static_cast<To>(inside);
    return x == x ? value : To{};
  } else {
    return static_cast<To>(x);
  }
}

// What stands in memory: a bool is a byte.
template <class From>
struct Stored {
  using type = std::conditional_t<std::is_same_v<From, bool>, uint8_t, From>;
};
// Integers become integers of either sign in the same way.
template <class To>
struct Signless {
  using type = To;
};
template <class To>
requires std::is_signed_v<To> && std::is_integral_v<To>
struct Signless<To> {
  using type = std::make_unsigned_t<To>;
};

template <class To, class From>
struct Convert {
  static SPRUCE_INLINE void body(const void* x, void* y, int64_t n) {
    const From* from = static_cast<const From*>(x);
    To* to = static_cast<To*>(y);
    if constexpr (kIsHalf<From> && std::is_same_v<To, float>)
      cpu::widen(from, to, n);
    else if constexpr (kIsHalf<To> && std::is_same_v<From, float>)
      cpu::narrow(from, to, n);
    else
      for (int64_t i = 0; i < n; ++i) to[i] = converted<To, From>(from[i]);
  }
  SPRUCE_TARGET_BASE static void base(const void* x, void* y, int64_t n) { body(x, y, n); }
  SPRUCE_TARGET_V3 static void v3(const void* x, void* y, int64_t n) { body(x, y, n); }
};

cpu::UnaryLoop convert_loop(const cpu::LoopArgs& a) {
  cpu::UnaryLoop loop = nullptr;
  visit_dtype(a.in, [&]<class From>(From) {
    visit_dtype(a.out, [&]<class To>(To) {
      using X = typename Stored<From>::type;
      using Y = std::conditional_t<std::is_integral_v<From>, typename Signless<To>::type, To>;
      loop =
          cpu::pick<cpu::UnaryLoop>(&Convert<Y, X>::base, &Convert<Y, X>::v3, &Convert<Y, X>::v3);
    });
  });
  return loop;
}

void convert_element_type_jvp(const JvpArgs& a) {
  if (is_floating(a.params.get<ConvertParams>().dtype))
    rules::jvp_linear(a);
  else
    rules::jvp_zero(a);
}

void convert_element_type_transpose(const TransposeArgs& a) {
  a.out[0] = rules::convert(a.cts[0], a.avals[0].dtype, a.avals[0].weak);
}

void batch(const BatchArgs& a) { a.out[0] = bind1(a.p, a.in, a.params); }

std::vector<Sample> convert_element_type_samples() {
  std::vector<Sample> out;
  const auto add = [&](Dtype from, Dtype to, const Shape& shape) {
    Sample s = rules::sample_of({shape}, from, Params::make(ConvertParams{to, false}));
    s.fixed_dtypes = true;
    out.push_back(s);
  };
  add(float64, float32, {2, 3});
  add(float32, float64, {5});
  add(float64, float64, {});
  add(float32, float16, {4});
  add(bfloat16, float32, {4});
  add(float32, int32, {2, 3});
  add(int32, float32, {0, 3});
  add(float64, bool_, {6});
  add(bool_, uint8, {3});
  add(int64, int8, {3});
  return out;
}

}  // namespace

extern constinit const Primitive convert_element_type_p = {
    .name = "convert_element_type",
    .shape = convert_element_type_shape,
    .cpu = cpu::loop_kernel<convert_loop>,
    .scalar = scalar::as_they_are<scalar::Op::kConvert>,
    .jvp = convert_element_type_jvp,
    .transpose = convert_element_type_transpose,
    .batch = batch,
    .samples = convert_element_type_samples,
    .params = kParamsOf<ConvertParams>,
    .kind = PrimitiveKind::kElementwise,
    .cost = ElementCost::kLow,
};

}  // namespace spruce
