// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {
namespace {

template <class F>
Operation unary(const F& f, Operation (*compared)(Function) = relative) {
  return compared([f](const Arrays& in, const Params&) { return Arrays{f(in[0])}; });
}

}  // namespace

void add_unary(Table& t) {
  t["abs"] = unary(sp::abs, exact);
  t["neg"] = unary(sp::negative, exact);
  t["sign"] = unary(sp::sign, exact);
  t["exp"] = unary(sp::exp);
  t["exp2"] = unary(sp::exp2);
  t["expm1"] = unary(sp::expm1);
  t["log"] = unary(sp::log);
  t["log2"] = unary(sp::log2);
  t["log10"] = unary(sp::log10);
  t["log1p"] = unary(sp::log1p);
  t["sqrt"] = unary(sp::sqrt);
  t["rsqrt"] = unary(sp::rsqrt);
  t["cbrt"] = unary(sp::cbrt);
  t["square"] = unary(sp::square);
  t["reciprocal"] = unary(sp::reciprocal);
  t["sin"] = unary(sp::sin);
  t["cos"] = unary(sp::cos);
  t["tan"] = unary(sp::tan);
  t["asin"] = unary(sp::asin);
  t["acos"] = unary(sp::acos);
  t["atan"] = unary(sp::atan);
  t["sinh"] = unary(sp::sinh);
  t["cosh"] = unary(sp::cosh);
  t["tanh"] = unary(sp::tanh);
  t["asinh"] = unary(sp::asinh);
  t["acosh"] = unary(sp::acosh);
  t["atanh"] = unary(sp::atanh);
  t["erf"] = unary(sp::erf);
  t["erfc"] = unary(sp::erfc);
  t["erf_inv"] = unary(sp::erf_inv);
  t["lgamma"] = unary(sp::lgamma, scaled);
  t["digamma"] = unary(sp::digamma, scaled);
  t["sigmoid"] = unary(sp::logistic);
  t["sinc"] = unary(sp::sinc);
  t["deg2rad"] = unary(sp::deg2rad);
  t["rad2deg"] = unary(sp::rad2deg);
  t["polygamma"] = relative([](const Arrays& in, const Params& p) {
    return Arrays{sp::polygamma(p.integer("n"), in[0])};
  });
  t["nan_to_num"] = exact([](const Arrays& in, const Params&) {
    return Arrays{sp::nan_to_num(in[0], {.nan = 0.5, .posinf = 9.0, .neginf = -9.0})};
  });
  t["floor"] = unary(sp::floor, exact);
  t["ceil"] = unary(sp::ceil, exact);
  t["round"] = unary(sp::round, exact);
  t["trunc"] = unary(sp::trunc, exact);
  t["isnan"] = unary(sp::isnan, exact);
  t["isinf"] = unary(sp::isinf, exact);
  t["isfinite"] = unary(sp::isfinite, exact);
  t["isposinf"] = unary(sp::isposinf, exact);
  t["isneginf"] = unary(sp::isneginf, exact);
  t["signbit"] = unary(sp::signbit, exact);
  t["population_count"] = unary(sp::population_count, exact);
  t["logical_not"] = unary(sp::logical_not, exact);
  t["bitwise_not"] = unary(sp::bitwise_not, exact);
}

}  // namespace reference
