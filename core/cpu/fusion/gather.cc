// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/gather.h"

#include <cstring>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/cpu/targets.h"
#include "spruce/core/rules/reduce.h"

namespace spruce::cpu {
namespace {

// What is calculated in: floats for the 16-bit ones, bytes for bool, unsigned integers where they
// wrap.
template <class T, bool kWraps>
struct Work {
  using type = T;
};
template <class T, bool kWraps>
requires(kIsHalf<T>) struct Work<T, kWraps> {
  using type = float;
};
template <bool kWraps>
struct Work<bool, kWraps> {
  using type = uint8_t;
};
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct Work<T, true> {
  using type = uint64_t;
};

template <class W>
W joined(Stage::Kind kind, W a, W b) {
  switch (kind) {
    case Stage::Kind::kSum:
      return static_cast<W>(a + b);
    case Stage::Kind::kMax:
      return Largest::call(a, b);
    case Stage::Kind::kMin:
      return Smallest::call(a, b);
    default:
      return static_cast<W>(a * b);
  }
}

template <class W>
W identity(Stage::Kind kind) {
  switch (kind) {
    case Stage::Kind::kSum:
      return W(0);
    case Stage::Kind::kMax:
      return Largest::identity<W>();
    case Stage::Kind::kMin:
      return Smallest::identity<W>();
    default:
      return W(1);
  }
}

// Of bool, as bytes, which there are vectors of. Loops of each kind for all dtypes would be 130 kB
// for what stages join themselves.
void join_bools(Stage::Kind kind, const bool* from, bool* acc, int64_t n) {
  const auto* const x = reinterpret_cast<const uint8_t*>(from);
  auto* const y = reinterpret_cast<uint8_t*>(acc);
  if (kind == Stage::Kind::kMax) {
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] |= x[i];
  } else {
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] &= x[i];
  }
}

// acc[i] += from[i]: what gradients of values that stand for many are made of.
template <class From>
struct AddToDoubles {
  static SPRUCE_INLINE void body(const From* from, double* acc, int64_t n) {
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) acc[i] += static_cast<double>(from[i]);
  }
  SPRUCE_TARGET_BASE static void base(const From* from, double* acc, int64_t n) {
    body(from, acc, n);
  }
  SPRUCE_TARGET_V3 static void v3(const From* from, double* acc, int64_t n) { body(from, acc, n); }
};

template <class From, class Acc>
void join_all(Stage::Kind kind, const From* from, Acc* acc, int64_t n, int64_t step) {
  if constexpr (std::is_same_v<Acc, bool>) {
    if (step == 1 && (kind == Stage::Kind::kMax || kind == Stage::Kind::kMin))
      return join_bools(kind, from, acc, n);
  }
  const auto loop = [&]<bool kWraps>() {
    using W =
        std::conditional_t<std::is_same_v<Acc, double>, double, typename Work<Acc, kWraps>::type>;
    for (int64_t i = 0; i < n; ++i) {
      acc[i * step] =
          static_cast<Acc>(joined(kind, static_cast<W>(acc[i * step]), static_cast<W>(from[i])));
    }
  };
  if constexpr (std::is_same_v<Acc, double> &&
                (std::is_same_v<From, float> || std::is_same_v<From, double>)) {
    if (kind == Stage::Kind::kSum && step == 1) {
      using Loop = void (*)(const From*, double*, int64_t);
      static const auto add =
          pick<Loop>(&AddToDoubles<From>::base, &AddToDoubles<From>::v3, &AddToDoubles<From>::v3);
      return add(from, acc, n);
    }
  }
  if (kind == Stage::Kind::kSum && std::is_same_v<Acc, double>) {
    for (int64_t i = 0; i < n; ++i)
      acc[i * step] = static_cast<Acc>(acc[i * step] + static_cast<Acc>(from[i]));
  } else if (kind == Stage::Kind::kSum || kind == Stage::Kind::kProd) {
    loop.template operator()<true>();
  } else {
    loop.template operator()<false>();
  }
}

// Calls f with a value of the dtype and one of its accumulator.
template <class F>
void visit(Stage::Kind kind, Dtype value, const F& f) {
  const bool gathers = accumulator_dtype(value, kind) == Dtype::kFloat64;
  visit_dtype(value, [&]<class T>(T) {
    if constexpr (kIsHalf<T> || std::is_floating_point_v<T>) {
      if (gathers) return f(T{}, double{});
    }
    f(T{}, T{});
  });
}

}  // namespace

Stage::Kind reduction_kind(Monoid reduces_by) {
  switch (reduces_by) {
    case Monoid::kProduct:
      return Stage::Kind::kProd;
    case Monoid::kMax:
    case Monoid::kOr:
      return Stage::Kind::kMax;
    case Monoid::kMin:
    case Monoid::kAnd:
      return Stage::Kind::kMin;
    case Monoid::kSum:
    case Monoid::kNone:  // of no reduction
      break;
  }
  return Stage::Kind::kSum;
}

void gather_start(Stage::Kind kind, Dtype value, void* acc, int64_t n) {
  visit(kind, value, [&]<class T, class A>(T, A) {
    A start;
    if constexpr (std::is_same_v<A, bool>)
      start = kind == Stage::Kind::kMin;
    else
      start = static_cast<A>(identity<typename Work<A, false>::type>(kind));
    A* to = static_cast<A*>(acc);
    for (int64_t i = 0; i < n; ++i) to[i] = start;
  });
}

float gather_identity(Stage::Kind kind) { return identity<float>(kind); }

void gather(Stage::Kind kind, Dtype value, bool wide, const void* from, void* acc, int64_t n,
            int64_t step) {
  visit(kind, value, [&]<class T, class A>(T, A) {
    if constexpr (kIsHalf<T>) {
      if (wide)
        return join_all(kind, static_cast<const float*>(from), static_cast<A*>(acc), n, step);
    }
    join_all(kind, static_cast<const T*>(from), static_cast<A*>(acc), n, step);
  });
}

void gather_parts(Stage::Kind kind, Dtype value, const void* parts, void* acc, int64_t n) {
  visit(kind, value, [&]<class T, class A>(T, A) {
    join_all(kind, static_cast<const A*>(parts), static_cast<A*>(acc), n, 1);
  });
}

void gather_finish(Stage::Kind kind, Dtype value, const void* acc, void* to, int64_t n) {
  visit(kind, value, [&]<class T, class A>(T, A) {
    const A* from = static_cast<const A*>(acc);
    T* out = static_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kIsHalf<T> && std::is_same_v<A, double>)
        out[i] = T(static_cast<float>(from[i]));
      else
        out[i] = static_cast<T>(from[i]);
    }
  });
}

}  // namespace spruce::cpu
