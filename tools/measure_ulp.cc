// SPDX-License-Identifier: Apache-2.0
// Prints, as a Markdown table, the largest error of every function of core/math in ulp. From
// the repository root:
//   ln -sfn "$PWD" /tmp/spruce && g++ -std=c++20 -O3 -fno-math-errno -fno-trapping-math
//     -ffp-contract=off -I/tmp -I. tools/measure_ulp.cc -o /tmp/measure_ulp && /tmp/measure_ulp
// Arguments: [stride [function]]. Functions of float are taken at every `stride`-th (by default
// 251st) of all 2^32 floats and compared with libm in double; pow and atan2 with as many random
// second arguments. Functions of double are taken at 2^20 random numbers and compared with libm
// in long double.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "tests/core/cpu/math_ops.h"

namespace {

using namespace spruce::math_ops;

struct Worst {
  double ulp = 0;
  double x = 0;
  double y = 0;
};

constexpr int kBlock = 4096;

template <class Op, class T, class Wide>
void compare(const std::vector<T>& x, const std::vector<T>& y, Worst (&worst)[2]) {
  std::vector<T> out(kBlock);
  std::vector<Wide> exact(kBlock);
  for (int i = 0; i < kBlock; ++i) exact[i] = Op::exact(Wide(x[i]), Wide(y[i]));
  for (int form = 0; form < 2; ++form) {
    (form == 0 ? &with_fma<Op, T> : &without_fma<Op, T>)(x.data(), y.data(), out.data(), kBlock);
    for (int i = 0; i < kBlock; ++i) {
      const double ulp = ulp_error(out[i], exact[i]);
      if (ulp > worst[form].ulp) worst[form] = {ulp, double(x[i]), double(y[i])};
    }
  }
}

template <class Op>
void print(const char* dtype, const char* range, const Worst (&worst)[2]) {
  std::printf("| %s | %s | %s ", Op::kName, dtype, range);
  for (const Worst& w : worst) {
    if (w.ulp == 0) {
      std::printf("| rounded right ");
    } else if (Op::kBinary) {
      std::printf("| %.2f at %.9g, %.9g ", w.ulp, w.x, w.y);
    } else {
      std::printf("| %.2f at %.9g ", w.ulp, w.x);
    }
  }
  std::printf("|\n");
  std::fflush(stdout);
}

template <class Op>
void measure_float(uint64_t stride) {
  Worst worst[2];
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-152, 129);
  std::uniform_real_distribution<float> slope(-3, 3);
  std::vector<float> x(kBlock);
  std::vector<float> y(kBlock);
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32);) {
    for (int i = 0; i < kBlock; ++i, bits += stride) {
      x[i] = __builtin_bit_cast(float, static_cast<uint32_t>(bits));
      if (!Op::kBinary) continue;
      y[i] = __builtin_bit_cast(float, static_cast<uint32_t>(random()));
      if (i % 8 == 0) continue;
      // Slopes of each quadrant for atan2, and for pow what gives neither 0 nor infinity.
      y[i] = std::string(Op::kName) == "atan2"
                 ? x[i] * slope(random)
                 : static_cast<float>(exponent(random) / std::log2(std::fabs(double(x[i]))));
    }
    compare<Op, float, double>(x, y, worst);
  }
  print<Op>("f32", "all", worst);
}

template <class Op>
void measure_double() {
  // On the negative axis they have zeros about which only the absolute error is small.
  const std::string name = Op::kName;
  const bool positive = name == "lgamma" || name == "digamma";
  Worst worst[2];
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> two(-2, 2);
  std::uniform_real_distribution<double> thirty(-30, 30);
  std::vector<double> x(kBlock);
  std::vector<double> y(kBlock);
  for (int block = 0; block < (1 << 20) / kBlock; ++block) {
    for (int i = 0; i < kBlock; ++i) {
      x[i] = i % 4 == 0   ? __builtin_bit_cast(double, static_cast<uint64_t>(random()))
             : i % 4 == 1 ? thirty(random)
                          : std::ldexp(two(random), static_cast<int>(random() % 16) - 12);
      y[i] = thirty(random);
      if (positive) x[i] = std::fabs(x[i]);
    }
    compare<Op, double, long double>(x, y, worst);
  }
  print<Op>("f64", positive ? "x > 0" : "all", worst);
}

template <class... Ops>
void measure_all(List<Ops...>, uint64_t stride, const std::string& only) {
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  (void)std::initializer_list<int>{(wanted(Ops::kName) ? (measure_float<Ops>(stride), 0) : 0)...};
  (void)std::initializer_list<int>{(wanted(Ops::kName) ? (measure_double<Ops>(), 0) : 0)...};
}

}  // namespace

int main(int argc, char** argv) {
  if (!processor_has_fma()) {
    std::puts("This processor has no FMA.");
    return 1;
  }
  const uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 251;
  const std::string only = argc > 2 ? argv[2] : "";
  std::puts("| function | dtype | range | max ulp with FMA | max ulp without FMA |");
  std::puts("|---|---|---|---|---|");
  measure_all(UnaryOps(), stride, only);
  measure_all(BinaryOps(), stride, only);
  return 0;
}
