// SPDX-License-Identifier: Apache-2.0
// The n-th derivative of digamma: (-1)^(n+1) n! times the sum of (x + k)^-(n+1) over k >= 0.
// Computed in double for all dtypes.
#include <array>
#include <cmath>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/math/gamma.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

constexpr int64_t kMaxOrder = 100;
constexpr double kPi = 3.14159265358979323846;

// B_2k / (2k)!, the coefficients of the Euler-Maclaurin formula.
constexpr double kBernoulli[] = {1.0 / 12,
                                 -1.0 / 720,
                                 1.0 / 30240,
                                 -1.0 / 1209600,
                                 1.0 / 47900160,
                                 -691.0 / 1307674368000,
                                 1.0 / 74724249600,
                                 -3617.0 / 10670622842880000.0,
                                 43867.0 / 5109094217170944000.0,
                                 -174611.0 / 802857662698291200000.0};

// The sum of (x + k)^-s over k >= 0 for x > 0 and s >= 2.
double zeta(double s, double x) {
  double sum = 0;
  // The remainder is exact to the last bit once x exceeds s by so much.
  for (; x < 12 + s; x += 1) sum += std::pow(x, -s);
  double tail = std::pow(x, 1 - s) / (s - 1) + 0.5 * std::pow(x, -s);
  double factor = s * std::pow(x, -s - 1);
  for (int k = 0; k < 10; ++k) {
    tail += kBernoulli[k] * factor;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
  }
  return sum + tail;
}

class Polygamma {
 public:
  explicit Polygamma(int64_t n) : n_(static_cast<int>(n)), scale_(n % 2 == 0 ? -1 : 1) {
    for (int i = 2; i <= n_; ++i) scale_ *= i;
    // The n-th derivative of cot(pi x) is (-pi)^n times a polynomial in c = cot(pi x), because c' =
    // -pi (1 + c^2).
    cot_[1] = 1;
    for (int i = 0; i < n_; ++i) {
      std::array<double, kMaxOrder + 2> next{};
      for (int k = 1; k <= i + 1; ++k) {
        next[k - 1] += k * cot_[k];
        next[k + 1] += k * cot_[k];
      }
      cot_ = next;
    }
  }

  double operator()(double x) const {
    if (n_ == 0) return math::digamma<math::Isa<false>>(x);
    if (x > 0) return positive(x);
    if (x != x) return x;
    if (x == std::floor(x))
      return n_ % 2 == 1 ? HUGE_VAL : x == 0 ? std::copysign(HUGE_VAL, -x) : NAN;
    // Reflection: psi_n(x) = (-1)^n psi_n(1 - x) - pi d^n/dx^n cot(pi x).
    const double c = 1 / std::tan(kPi * (x - std::round(x)));
    double p = 0;
    for (int k = n_ + 1; k >= 0; --k) p = p * c + cot_[k];
    const double sign = n_ % 2 == 0 ? 1 : -1;
    return sign * (positive(1 - x) - std::pow(kPi, n_ + 1) * p);
  }

 private:
  double positive(double x) const { return x == HUGE_VAL ? 0.0 : scale_ * zeta(n_ + 1, x); }

  int n_;
  double scale_;
  std::array<double, kMaxOrder + 2> cot_{};  // coefficients up to that of c^(n + 1)
};

void polygamma_kernel(const KernelArgs& args) {
  const Polygamma f(args.params.get<PolygammaParams>().n);
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T> || kIsHalf<T>) {
      using C = cpu::internal::Compute<T>;
      const T* x = args.in[0].as<const T>();
      T* y = args.out[0].as<T>();
      cpu::parallel_for(args.out[0].numel(), 256, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          y[i] = static_cast<T>(static_cast<C>(f(static_cast<C>(x[i]))));
      });
    }
  });
}

int polygamma_expression(const ScalarArgs& a) {
  const auto n = static_cast<double>(a.params.get<PolygammaParams>().n);
  return scalar::compute_in<cpu::Types::kFloating>(a.out, [&]<class C>(C) {
    const auto x = scalar::convert<double>(scalar::input<C>(a, 0));
    return scalar::result(a, scalar::convert<C>(x.call(scalar::Function::kPolygamma, n)));
  });
}

Aval shape(const ShapeArgs& a) {
  const int64_t n = a.params.get<PolygammaParams>().n;
  if (n < 0 || n > kMaxOrder) {
    throw ValueError("polygamma: the order is " + std::to_string(n) + "; it must be in 0.." +
                     std::to_string(kMaxOrder));
  }
  return rules::same_floating(a);
}

void jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  a.out_tangents[0] = a.tangents[0] * polygamma(a.params.get<PolygammaParams>().n + 1, a.in[0]);
}

std::vector<Sample> polygamma_samples() {
  std::vector<Sample> all;
  for (const int64_t n : {0, 1, 2, 3}) {
    for (Sample s : rules::joined(rules::unary_samples<5, 40>(),
                                  rules::valued_samples({-0.5, -1.3, -2.6, 0.4, 7.5}))) {
      s.params = Params::make(PolygammaParams{n});
      all.push_back(s);
    }
  }
  return all;
}

}  // namespace

extern constinit const Primitive polygamma_p = {
    .name = "polygamma",
    .shape = shape,
    .cpu = polygamma_kernel,
    .scalar = polygamma_expression,
    .jvp = jvp,
    .batch = rules::batch_elementwise,
    .samples = polygamma_samples,
    .params = kParamsOf<PolygammaParams>,
    .kind = PrimitiveKind::kElementwise,
    .in_place = true,
};

Array PolygammaFunction::operator()(int64_t n, const Array& x, Loc loc) const {
  const OpScope at("polygamma", loc);
  return bind1(polygamma_p, {internal::floating("polygamma", x)}, Params::make(PolygammaParams{n}));
}

}  // namespace spruce
