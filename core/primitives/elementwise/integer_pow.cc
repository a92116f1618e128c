// SPDX-License-Identifier: Apache-2.0
// x^n for a fixed integer n: the square, the reciprocal and other powers by multiplication.

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/power.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

// Small powers have loops of their own, rounded at each multiplication.
template <int kN>
struct SmallPow {
  template <class I, class T>
  static SPRUCE_INLINE T call(T x) {
    if constexpr (kN < 0)
      return T{1} / SmallPow<-kN>::template call<I>(x);
    else if constexpr (kN == 1)
      return x;
    else if constexpr (kN == 2)
      return product(x, x);
    else if constexpr (kN == 3)
      return product(product(x, x), x);
    else
      return product(product(x, x), product(x, x));
  }

  template <class T>
  static SPRUCE_INLINE T product(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};

template <class T>
SPRUCE_INLINE T power(T x, uint64_t n) {
  T y = 1;
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) y = y * x;
    x = x * x;
  }
  return y;
}

// Floats are multiplied in double, where long products round less and do not overflow early.
template <class I, class X>
SPRUCE_INLINE X general_power(X x, int64_t n) {
  if constexpr (std::is_integral_v<X>)
    return static_cast<X>(power(static_cast<uint64_t>(x), static_cast<uint64_t>(n)));
  else if constexpr (std::is_same_v<X, double>)
    return n == 0 ? 1 : math::integer_power<I>(x, n);
  else {
    const double p = power(static_cast<double>(static_cast<float>(x)), math::unsigned_abs(n));
    return static_cast<X>(static_cast<float>(n < 0 ? 1 / p : p));
  }
}

template <class X>
struct GeneralPow {
  using Loop = void (*)(const X*, X*, int64_t, int64_t);
  SPRUCE_TARGET_BASE static void base(const X* x, X* y, int64_t count, int64_t n) {
    for (int64_t i = 0; i < count; ++i) y[i] = general_power<math::Isa<false>>(x[i], n);
  }
  SPRUCE_TARGET_V3 static void v3(const X* x, X* y, int64_t count, int64_t n) {
    for (int64_t i = 0; i < count; ++i) y[i] = general_power<math::Isa<true>>(x[i], n);
  }
  static void run(const X* x, X* y, int64_t count, int64_t n) {
    static const Loop loop = cpu::pick<Loop>(&base, &v3, &v3);
    loop(x, y, count, n);
  }
};

void general_kernel(const KernelArgs& args, int64_t n) {
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) {
      const T* x = args.in[0].as<const T>();
      T* y = args.out[0].as<T>();
      cpu::parallel_for(args.out[0].numel(), 4096, [&](int64_t begin, int64_t end) {
        GeneralPow<T>::run(x + begin, y + begin, end - begin, n);
      });
    }
  });
}

// Null for other powers than these.
cpu::UnaryLoop integer_pow_loop(const cpu::LoopArgs& args) {
  switch (args.params.get<IntegerPowParams>().n) {
    case -2:
      return cpu::unary_loop<SmallPow<-2>, cpu::Types::kFloating>(args);
    case -1:
      return cpu::unary_loop<SmallPow<-1>, cpu::Types::kFloating>(args);
    case 1:
      return cpu::unary_loop<SmallPow<1>, cpu::Types::kNumeric>(args);
    case 2:
      return cpu::unary_loop<SmallPow<2>, cpu::Types::kNumeric>(args);
    case 3:
      return cpu::unary_loop<SmallPow<3>, cpu::Types::kNumeric>(args);
    case 4:
      return cpu::unary_loop<SmallPow<4>, cpu::Types::kNumeric>(args);
    default:
      return nullptr;
  }
}

void integer_pow(const KernelArgs& args) {
  if (const cpu::UnaryLoop loop = integer_pow_loop(cpu::loop_args(args)))
    cpu::run_unary(args, loop);
  else
    general_kernel(args, args.params.get<IntegerPowParams>().n);
}

// The steps of both.
template <class C>
scalar::Expr<C> integer_pow_expression_of(scalar::Expr<C> x, int64_t n) {
  using E = scalar::Expr<C>;
  const bool floating = std::is_floating_point_v<C>;
  if (n == 0) return E(1);
  if (n == 1) return x;
  if (n == 2) return x * x;
  if (n == 3) return x * x * x;
  if (n == 4) return (x * x) * (x * x);
  if (n == -1 || n == -2) return E(1) / integer_pow_expression_of(x, -n);
  if constexpr (std::is_same_v<C, double>) {
    return math::integer_power<scalar::ExprIsa>(x, n);
  } else {
    using W = std::conditional_t<std::is_same_v<C, float>, double, C>;
    const scalar::Expr<W> p = power(scalar::convert<W>(x), math::unsigned_abs(n));
    return scalar::convert<C>(floating && n < 0 ? 1 / p : p);
  }
}

int integer_pow_expression(const ScalarArgs& a) {
  const int64_t n = a.params.get<IntegerPowParams>().n;
  return scalar::compute_in<cpu::Types::kNumeric>(a.out, [&]<class C>(C) {
    return scalar::result(a, integer_pow_expression_of(scalar::input<C>(a, 0), n));
  });
}

Aval integer_pow_shape(const ShapeArgs& a) {
  const int64_t n = a.params.get<IntegerPowParams>().n;
  if (n < 0 && is_integer(a.in[0]->dtype)) {
    throw ValueError("power: " + to_string(*a.in[0]) + " to the power of " + std::to_string(n) +
                     " is no integer; convert it to a floating dtype with astype first");
  }
  return rules::same_numeric(a);
}

void integer_pow_jvp(const JvpArgs& a) {
  const int64_t n = a.params.get<IntegerPowParams>().n;
  const Array &x = a.in[0], &t = a.tangents[0];
  a.out[0] = bind1(a.p, a.in, a.params);
  if (n == 0) return;
  if (n == 1) {
    a.out_tangents[0] = t;
  } else if (n == 2) {
    a.out_tangents[0] = t * (x + x);
  } else {
    const Array slope = bind1(a.p, {x}, Params::make(IntegerPowParams{n - 1}));
    a.out_tangents[0] = t * (static_cast<double>(n) * slope);
  }
}

std::vector<Sample> integer_pow_samples() {
  std::vector<Sample> all;
  for (const int64_t n : {-5, -2, -1, 0, 1, 2, 3, 4, 7}) {
    const bool pole = n < 0;
    for (Sample s : pole ? rules::unary_samples<5, 20>() : rules::unary_samples<-20, 20>()) {
      s.params = Params::make(IntegerPowParams{n});
      all.push_back(s);
    }
    if (pole) continue;
    for (Sample s : rules::integer_unary_samples<-4, 4>()) {
      s.params = Params::make(IntegerPowParams{n});
      all.push_back(s);
    }
  }
  return all;
}

}  // namespace

extern constinit const Primitive integer_pow_p = {
    .name = "integer_pow",
    .public_name = "power",
    .shape = integer_pow_shape,
    .cpu = {integer_pow, cpu::element_loop<integer_pow_loop>},
    .scalar = integer_pow_expression,
    .jvp = integer_pow_jvp,
    .batch = rules::batch_elementwise,
    .samples = integer_pow_samples,
    .params = kParamsOf<IntegerPowParams>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

}  // namespace spruce
