// SPDX-License-Identifier: Apache-2.0
// Every rule of the pass `algebra`, in every dtype, at the ends of its range, signed zeros, NaN and
// infinities: what is compiled has the bits of what evaluation gives.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/passes/simplify/algebra.h"
#include "spruce/transforms/rules/control_primitives.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace algebra_laws_test {

using Arrays = std::vector<Array>;
// Of x, y and a bool p.
using Expression = std::function<Array(const Array& x, const Array& y, const Array& p)>;

// Made at the first call, which evaluates: in a graph it is a constant.
Array number_like(double v, const Array& x) {
  static std::map<std::tuple<Dtype, double, bool>, Array> made;
  const auto [it, added] = made.try_emplace({x.dtype(), v, std::signbit(v)});
  if (added) it->second = astype(array(v), x.dtype());
  return it->second;
}
template <class F>
Expression of_x(const F& f) {
  return [f](const Array& x, const Array&, const Array&) { return f(x); };
}
template <class F>
Expression of_xy(const F& f) {
  return [f](const Array& x, const Array& y, const Array&) { return f(x, y); };
}
// op(x, n) for a primitive of two operands.
Expression with_number(const Primitive& p, double n) {
  return of_x([&p, n](const Array& x) { return bind1(p, {x, number_like(n, x)}); });
}
Expression from_number(double n, const Primitive& p) {
  return of_x([&p, n](const Array& x) { return bind1(p, {number_like(n, x), x}); });
}
Expression whole_power(int64_t n, bool negated) {
  return of_x([=](const Array& x) {
    return bind1(integer_pow_p, {negated ? -x : x}, Params::make(IntegerPowParams{n}));
  });
}
Array neg(const Array& x) { return bind1(neg_p, {x}); }

std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> all;
  for (int d = 0; d < kDtypeCount; ++d) all.push_back(static_cast<Dtype>(d));
  return all;
}

std::vector<Expression> conversions() {
  std::vector<Expression> all;
  for (const Dtype by : all_dtypes()) {
    for (const Dtype to : all_dtypes())
      all.push_back(of_x([=](const Array& x) { return astype(astype(x, by), to); }));
  }
  return all;
}

// What each rule applies to.
const std::map<std::string, std::vector<Expression>>& expressions() {
  static const std::map<std::string, std::vector<Expression>> all = {
      {"-(-x) = x", {of_x([](const Array& x) { return neg(neg(x)); })}},
      {"-(a - b) = b - a", {of_xy([](const Array& x, const Array& y) { return neg(x - y); })}},
      {"-(c x) = (-c) x",
       {of_x([](const Array& x) { return neg(number_like(3, x) * x); }),
        of_x([](const Array& x) { return neg(x * number_like(0.5, x)); })}},
      {"x + 0 = x", {with_number(add_p, 0), from_number(0, add_p), with_number(add_p, -0.0)}},
      {"a + -b = a - b",
       {of_xy([](const Array& x, const Array& y) { return x + neg(y); }),
        of_xy([](const Array& x, const Array& y) { return neg(x) + y; })}},
      {"x - 0 = x", {with_number(sub_p, 0), with_number(sub_p, -0.0)}},
      {"0 - x = -x", {from_number(0, sub_p)}},
      {"a - -b = a + b", {of_xy([](const Array& x, const Array& y) { return x - neg(y); })}},
      {"-a * -b = a b", {of_xy([](const Array& x, const Array& y) { return neg(x) * neg(y); })}},
      {"where(p, x, 0) p = where(p, x, 0)",
       {[](const Array& x, const Array&, const Array& p) {
          return where(p, x, number_like(0, x)) * astype(p, x.dtype());
        },
        [](const Array& x, const Array&, const Array& p) {
          return astype(p, x.dtype()) * where(p, x, number_like(-0.0, x));
        }}},
      {"1 x = x", {with_number(mul_p, 1), from_number(1, mul_p)}},
      {"c * -x = (-c) x",
       {with_number(mul_p, -1), of_x([](const Array& x) { return neg(x) * number_like(3, x); })}},
      {"0 x = 0", {with_number(mul_p, 0), from_number(0, mul_p)}},
      {"x / 1 = x", {with_number(div_p, 1)}},
      {"x / 2^n = 2^-n x",
       {with_number(div_p, 8), with_number(div_p, 0.5), with_number(div_p, -0x1p12),
        with_number(div_p, 0x1p14), with_number(div_p, 0x1p127), with_number(div_p, 0x1p-126)}},
      {"-a / -b = a / b", {of_xy([](const Array& x, const Array& y) { return neg(x) / neg(y); })}},
      {"-x / c = x / -c", {of_x([](const Array& x) { return neg(x) / number_like(3, x); })}},
      {"x^n of n = 0, 1, 2, -1",
       {with_number(pow_p, 0), with_number(pow_p, 1), with_number(pow_p, 2),
        with_number(pow_p, -1)}},
      {"x^0 = 1, x^1 = x", {whole_power(0, false), whole_power(1, false)}},
      {"(-x)^2n = x^2n",
       {whole_power(2, true), whole_power(4, true), whole_power(6, true), whole_power(-2, true)}},
      {"|x| = x", {of_x([](const Array& x) { return abs(x); })}},
      {"||x|| = |x|", {of_x([](const Array& x) { return abs(abs(x)); })}},
      {"|-x| = |x|", {of_x([](const Array& x) { return abs(neg(x)); })}},
      {"max(x, x) = x", {of_x([](const Array& x) { return maximum(x, x); })}},
      {"min(x, x) = x", {of_x([](const Array& x) { return minimum(x, x); })}},
      {"x & x = x", {of_x([](const Array& x) { return bitwise_and(x, x); })}},
      {"x | x = x", {of_x([](const Array& x) { return bitwise_or(x, x); })}},
      {"x & true = x", {with_number(and_p, 1), from_number(0, and_p), with_number(and_p, 2)}},
      {"x | false = x", {with_number(or_p, 1), from_number(0, or_p), with_number(or_p, 2)}},
      {"~~x = x", {of_x([](const Array& x) { return bitwise_not(bitwise_not(x)); })}},
      {"!(a == b) = (a != b)",
       {of_xy([](const Array& x, const Array& y) { return logical_not(x == y); }),
        of_xy([](const Array& x, const Array& y) { return logical_not(x != y); }),
        of_xy([](const Array& x, const Array& y) { return logical_not(x < y); })}},
      {"where(true, a, b) = a",
       {of_xy([](const Array& x, const Array& y) { return where(array(true), x, y); }),
        of_xy([](const Array& x, const Array& y) { return where(array(false), x, y); }),
        [](const Array& x, const Array&, const Array& p) { return where(p, x, x); }}},
      {"where(!p, a, b) = where(p, b, a)", {[](const Array& x, const Array& y, const Array& p) {
         return where(logical_not(p), x, y);
       }}},
      {"where(p, x p, b) = where(p, x, b)",
       {[](const Array& x, const Array& y, const Array& p) {
          return where(p, x * astype(p, x.dtype()), y);
        },
        [](const Array& x, const Array& y, const Array& p) {
          return where(p, astype(p, x.dtype()) * x, y);
        }}},
      {"where(p, where(p, a, b), c) = where(p, a, c)",
       {[](const Array& x, const Array& y, const Array& p) { return where(p, where(p, x, y), y); },
        [](const Array& x, const Array& y, const Array& p) {
          return where(p, x, where(p, y, x));
        }}},
      {"T(S(x)) = T(x)", conversions()},
      {"copy(x) = x", {of_x([](const Array& x) { return copy(x); })}},
      {"stop_gradient(x) = x", {of_x([](const Array& x) { return bind1(stop_gradient_p, {x}); })}},
      {"guard(x) = x", {[](const Array& x, const Array&, const Array& p) {
         return bind1(guard_p, {x, p});
       }}}};
  return all;
}

// The ends of the range of a dtype and what lies about 0 and 1.
Array extremes(Dtype dtype) {
  return visit_dtype(dtype, [&]<class T>(T) {
    std::vector<T> all;
    if constexpr (std::is_same_v<T, bool>) {
      return array({false, true});
    } else if constexpr (std::is_integral_v<T>) {
      using L = std::numeric_limits<T>;
      return array(std::vector<T>{L::min(), static_cast<T>(L::min() + 1), static_cast<T>(-2),
                                  static_cast<T>(-1), 0, 1, 2, 3, 100, static_cast<T>(200),
                                  static_cast<T>(L::max() / 2 + 1), static_cast<T>(L::max() - 1),
                                  L::max()});
    } else {
      // Of the widest floats: rounding to a narrower one overflows to infinity or gives zero.
      using L = std::numeric_limits<double>;
      using F = std::numeric_limits<float>;
      std::vector<double> x = {0.0,
                               1.0,
                               0.1,
                               1.5,
                               2.0,
                               3.0,
                               127.5,
                               65504.0,
                               3.4e4,
                               6e-8,
                               6.1e-5,
                               16777217.0,
                               2147483648.0,
                               1e19,
                               F::max(),
                               F::min(),
                               F::denorm_min(),
                               L::max(),
                               L::min(),
                               L::denorm_min(),
                               L::infinity()};
      for (size_t i = x.size(); i-- > 0;) x.push_back(-x[i]);
      x.push_back(L::quiet_NaN());
      return astype(array(x), dtype);
    }
  });
}

// All pairs of extremes, and a bool.
Arrays operands(Dtype dtype) {
  const Array all = extremes(dtype);
  const int64_t n = all.size();
  const Array x = flatten(broadcast_to(reshape(all, {n, 1}), {n, n})),
              y = flatten(broadcast_to(reshape(all, {1, n}), {n, n}));
  return {x, y, remainder(arange(n * n), 3) == 1};
}

template <class T>
bool same_bits(T a, T b, const passes::Law& law) {
  if (std::memcmp(&a, &b, sizeof a) == 0) return true;
  if constexpr (kIsHalf<T> || std::is_floating_point_v<T>) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    if (std::isnan(x) && std::isnan(y)) return true;
    if (law.zeros == passes::Zeros::kAnySign && x == 0 && y == 0) return true;
    // pow itself is not rounded to the nearest.
    if (law.primitive == &pow_p)
      return std::abs(x - y) <= std::abs(x) * 4 * std::numeric_limits<T>::epsilon();
  }
  return false;
}

::testing::AssertionResult same(const Array& got, const Array& want, const passes::Law& law,
                                const Array& x, const Array& y) {
  if (to_string(got.aval()) != to_string(want.aval()))
    return ::testing::AssertionFailure() << to_string(got.aval());
  return visit_dtype(got.dtype(), [&]<class T>(T) -> ::testing::AssertionResult {
    const auto* a = static_cast<const T*>(internal::mutable_data(got));
    const auto* b = static_cast<const T*>(internal::mutable_data(want));
    for (int64_t i = 0; i < got.size(); ++i) {
      if (same_bits(a[i], b[i], law)) continue;
      return ::testing::AssertionFailure()
             << "of " << astype(flatten(x)[i], float64) << " and " << astype(flatten(y)[i], float64)
             << ": " << got[i] << " instead of " << want[i];
    }
    return ::testing::AssertionSuccess();
  });
}

// True where the pass changed the graph.
bool check_law(const passes::Law& law, const Expression& f, Dtype dtype) {
  const Arrays in = operands(dtype);
  const auto g = [&](const Arrays& a) { return Arrays{f(a[0], a[1], a[2])}; };
  Array want;
  try {
    want = f(in[0], in[1], in[2]);
  } catch (const Error&) {
    return false;  // not for this dtype
  }
  const Graph graph = passes::drop_weak_types(make_graph(g)(in)), after = passes::algebra(graph);
  check(after);
  EXPECT_TRUE(same(evaluate(after, in)[0], want, law, in[0], in[1])) << "the pass";
  EXPECT_TRUE(same(jit(g)(in)[0], want, law, in[0], in[1])) << "compiled";
  return body_of(passes::dead_code(after)) != body_of(passes::dead_code(graph));
}

TEST(AlgebraLaws, HoldInEveryDtypeByBits) {
  for (const passes::Law& law : passes::laws()) {
    const auto it = expressions().find(law.text);
    ASSERT_NE(it, expressions().end()) << law.text << " has no expression here";
    int changed = 0;
    for (const Dtype dtype : all_dtypes()) {
      for (size_t i = 0; i < it->second.size(); ++i) {
        SCOPED_TRACE(std::string(law.text) + " [" + std::to_string(i) + "] of " +
                     std::string(name(dtype)));
        changed += check_law(law, it->second[i], dtype) ? 1 : 0;
      }
    }
    EXPECT_GT(changed, 0) << law.text << " was not applied";
  }
}

TEST(AlgebraLaws, AbsOfANegatedUnsignedIntegerKeepsTheNegation) {
  const Array x = astype(array({1, 2, 200}), uint8);
  const auto f = [](const Array& a) { return abs(-a); };
  EXPECT_EQ(f(x).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 254, 56}));
  EXPECT_EQ(jit(f)(x).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 254, 56}));
}

}  // namespace algebra_laws_test
}  // namespace spruce
