// SPDX-License-Identifier: Apache-2.0
// Binomial variates with the draws of JAX: for few successes by sums of geometric variates, else by
// transformed rejection (Hormann, "The generation of binomial random variates", 1993).
#include <cmath>
#include <limits>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/random/key_stream.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/random.h"

namespace spruce {
namespace {

template <class T>
T by_inversion(cpu::Words key, uint64_t place, T n, T p) {
  const T log_miss = std::log1p(-p);
  T successes = 0, trials = 0;
  while (trials <= n) {
    const T u = cpu::unit_at<T>(cpu::new_key(key, 0), place);
    key = cpu::new_key(key, 1);
    trials += std::ceil(std::log(u) / log_miss);
    ++successes;
  }
  return successes - 1;
}

// log k! less Stirling's formula.
template <class T>
T stirling_tail(T k) {
  constexpr double kTails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                               0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                               0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                               0.00833056343336287};
  if (k <= 9) return T(kTails[static_cast<int>(std::max(k, T(0)))]);
  const T s = (k + 1) * (k + 1);
  return (T(1. / 12) - (T(1. / 360) - T(1. / 1260) / s) / s) / (k + 1);
}

// One attempt for a number of trials and a probability whose product is large enough.
template <class T>
bool random_binomial_accept(const cpu::Round& round, uint64_t place, T n, T p, T& k) {
  const T deviation = std::sqrt(n * p * (1 - p));
  const T b = T(1.15) + T(2.53) * deviation, a = T(-0.0873) + T(0.0248) * b + T(0.01) * p;
  const T c = n * p + T(0.5), v_r = T(0.92) - T(4.2) / b, odds = p / (1 - p);
  const T alpha = (T(2.83) + T(5.1) / b) * deviation, mode = std::floor((n + 1) * p);
  const T u = cpu::unit_at<T>(round.first, place) - T(0.5);
  T v = cpu::unit_at<T>(round.second, place);
  const T shifted = T(0.5) - std::abs(u);
  k = std::floor((2 * a / shifted + b) * u + c);
  if (shifted >= T(0.07) && v <= v_r) return true;
  if (k < 0 || k > n) return false;
  v = std::log(v * alpha / (a / (shifted * shifted) + b));
  const T bound = (mode + T(0.5)) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                  (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                  (k + T(0.5)) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_tail(mode) +
                  stirling_tail(n - mode) - stirling_tail(k) - stirling_tail(n - k);
  return v <= bound;
}

// What is drawn for one element: the rarer outcome, in one of two ways or not at all.
template <class T>
struct Task {
  Task(T trials, T p) : n(std::floor(trials)), rare(p < T(0.5)), q(rare ? p : 1 - p) {
    invalid = std::isnan(q) || q < 0 || std::isnan(trials) || trials < 0;
    few = invalid || trials * q <= 10;
  }
  T finish(T k) const {
    if (invalid) return std::numeric_limits<T>::quiet_NaN();
    if (std::isinf(n)) return n;
    return rare ? k : n - k;
  }

  T n;
  bool rare;
  T q;
  bool invalid, few;
};

Aval random_binomial_shape(const ShapeArgs& a) {
  rules::check_draws(a, 2);
  const Aval &n = *a.in[1], &p = *a.in[2];
  if (n.dtype != p.dtype || !(n.shape == p.shape) || !is_floating(p.dtype)) {
    throw ShapeError(std::string(a.op) + ": takes two floating arrays of one type, got " +
                     to_string(n) + " and " + to_string(p));
  }
  return {p.dtype, false, p.shape};
}

void random_binomial_kernel(const KernelArgs& args) {
  visit_dtype(args.out[0].dtype(), [&]<class T>(T) {
    if constexpr (cpu::internal::kAccepts<cpu::Types::kFloating, T>) {
      using C = cpu::internal::Compute<T>;
      const T *n = args.in[1].as<const T>(), *p = args.in[2].as<const T>();
      T* y = args.out[0].as<T>();
      const auto task = [&](int64_t i) {
        return Task<C>(static_cast<C>(n[i]), static_cast<C>(p[i]));
      };
      bool any_many = false;
      for (int64_t i = 0; i < args.out[0].numel(); ++i) any_many = any_many || !task(i).few;
      if (any_many) {
        // Elements with few successes take part in the rounds with some that has many.
        cpu::draw_by_rejection<C>(
            args,
            [&](const cpu::Round& round, uint64_t place, int64_t i, C& k) {
              const Task<C> t = task(i);
              return random_binomial_accept(round, place, t.few ? C(1e4) : t.n,
                                            t.few ? C(0.5) : t.q, k);
            },
            [&](int64_t i, C k) { y[i] = static_cast<T>(task(i).finish(k)); });
      }
      cpu::for_each_draw(args, [&](cpu::Words key, uint64_t place, int64_t i) {
        const Task<C> t = task(i);
        if (!t.few) return;
        const C k = t.invalid ? C(0) : by_inversion(key, place, t.n, t.q);
        y[i] = static_cast<T>(t.finish(k));
      });
    }
  });
}

}  // namespace

extern constinit const Primitive random_binomial_p = {
    .name = "random_binomial",
    .shape = random_binomial_shape,
    .cpu = random_binomial_kernel,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_draws,
};

}  // namespace spruce
