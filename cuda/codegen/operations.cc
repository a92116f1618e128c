// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/operations.h"

#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/activation.h"
#include "spruce/core/rules/gelu.h"
#include "spruce/core/rules/nan_outside.h"
#include "spruce/core/rules/optimizer.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/ops/math.h"
#include "spruce/cuda/codegen/prelude.h"

namespace spruce::cuda {
namespace {

using Make = std::string (*)(const Operation& o);

// name(arguments...)
std::string call(std::string_view name, std::span<const std::string> arguments) {
  std::string text(name);
  text += "(";
  for (size_t i = 0; i < arguments.size(); ++i) text += (i > 0 ? ", " : "") + arguments[i];
  return text + ")";
}

std::string with_numbers(std::string_view name, const Operation& o,
                         std::initializer_list<double> numbers) {
  std::vector<std::string> all(o.arguments.begin(), o.arguments.end());
  for (const double x : numbers) all.push_back(literal(o.out, x));
  return call(name, all);
}

std::string same(const Operation& o) { return o.arguments[0]; }

std::string convert(const Operation& o) {
  return call("sp::convert<" + std::string(text_type(o.out)) + ">", o.arguments);
}

std::string next_after(const Operation& o) {
  const std::string bits = "sp::u" + std::to_string(8 * size_of(o.out));
  return call("sp::nextafter<" + std::string(text_type(o.out)) + ", " + bits + ">", o.arguments);
}

std::string integer_power(const Operation& o) {
  return call("sp::integer_pow<" + std::to_string(o.params.get<IntegerPowParams>().n) + "ll>",
              o.arguments);
}

std::string gelu(const Operation& o) {
  return call(o.params.get<GeluParams>().tanh ? "sp::gelu_tanh" : "sp::gelu_erf", o.arguments);
}

std::string elu(const Operation& o) {
  const auto& p = o.params.get<EluParams>();
  return with_numbers("sp::elu", o, {p.alpha, p.divisor, p.scale});
}

std::string huber(const Operation& o) {
  const double delta = o.params.get<HuberParams>().delta;
  return with_numbers("sp::huber", o, {delta, 0.5 * delta});
}

std::string scaled_add(const Operation& o) {
  const auto& p = o.params.get<ScaledAddParams>();
  return literal(o.out, p.alpha) + " * " + o.arguments[0] + " + " + literal(o.out, p.beta) +
         " * " + o.arguments[1];
}

std::string adam(const Operation& o) {
  const auto& p = o.params.get<AdamDirectionParams>();
  return with_numbers("sp::adam_direction", o, {p.eps, p.eps_root});
}

std::string nan_outside(const Operation& o) {
  return "sp::nan_outside<" + std::string(compute_type(o.out)) + ">(" + o.arguments[0] + ", " +
         std::to_string(o.params.get<NanOutsideParams>().size) + "ll)";
}

// The n-th derivative of cot(pi x) is (-pi)^n times a polynomial in c = cot(pi x), because
// c' = -pi (1 + c^2).
std::string polygamma(const Operation& o) {
  const int64_t n = o.params.get<PolygammaParams>().n;
  double scale = n % 2 == 0 ? -1 : 1;
  for (int64_t i = 2; i <= n; ++i) scale *= static_cast<double>(i);
  std::vector<double> cot(static_cast<size_t>(n) + 2, 0.0);
  cot[1] = 1;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> next(cot.size(), 0.0);
    for (int64_t k = 1; k <= i + 1; ++k) {
      next[static_cast<size_t>(k - 1)] += static_cast<double>(k) * cot[static_cast<size_t>(k)];
      next[static_cast<size_t>(k + 1)] += static_cast<double>(k) * cot[static_cast<size_t>(k)];
    }
    cot = next;
  }
  std::string list;
  for (const double c : cot) list += (list.empty() ? "" : ", ") + literal(Dtype::kFloat64, c);
  // A function without a name of its own, so that the numbers stand in an expression.
  return std::string(compute_type(o.out)) + "([](sp::f64 x) { const sp::f64 cot[] = {" + list +
         "}; return sp::polygamma<" + std::to_string(n) + ">(x, " +
         literal(Dtype::kFloat64, scale) + ", cot); }(sp::f64(" + o.arguments[0] + ")))";
}


#define SPRUCE_NAMED(function)                      \
  [](const Operation& o) -> std::string {           \
    return call("sp::" #function, o.arguments);     \
  }

const std::map<std::string_view, Make>& table() {
  static const std::map<std::string_view, Make> all = {
      {"abs", SPRUCE_NAMED(abs)},
      {"acos", SPRUCE_NAMED(acos)},
      {"acosh", SPRUCE_NAMED(acosh)},
      {"adam_direction", adam},
      {"add", SPRUCE_NAMED(add)},
      {"and", SPRUCE_NAMED(bit_and)},
      {"asin", SPRUCE_NAMED(asin)},
      {"asinh", SPRUCE_NAMED(asinh)},
      {"atan", SPRUCE_NAMED(atan)},
      {"atan2", SPRUCE_NAMED(atan2)},
      {"atanh", SPRUCE_NAMED(atanh)},
      {"cbrt", SPRUCE_NAMED(cbrt)},
      {"ceil", SPRUCE_NAMED(ceil)},
      {"clamp", SPRUCE_NAMED(clamp)},
      {"convert_element_type", convert},
      {"copy", same},
      {"copysign", SPRUCE_NAMED(copysign)},
      {"cos", SPRUCE_NAMED(cos)},
      {"cosh", SPRUCE_NAMED(cosh)},
      {"digamma", SPRUCE_NAMED(digamma)},
      {"div", SPRUCE_NAMED(div)},
      {"elu", elu},
      {"eq", SPRUCE_NAMED(eq)},
      {"erf", SPRUCE_NAMED(erf)},
      {"erf_inv", SPRUCE_NAMED(erf_inv)},
      {"erfc", SPRUCE_NAMED(erfc)},
      {"exp", SPRUCE_NAMED(exp)},
      {"exp2", SPRUCE_NAMED(exp2)},
      {"expm1", SPRUCE_NAMED(expm1)},
      {"floor", SPRUCE_NAMED(floor)},
      {"gcd", SPRUCE_NAMED(gcd)},
      {"ge", SPRUCE_NAMED(ge)},
      {"gelu", gelu},
      {"gt", SPRUCE_NAMED(gt)},
      {"huber", huber},
      {"hypot", SPRUCE_NAMED(hypot)},
      {"integer_pow", integer_power},
      {"is_finite", SPRUCE_NAMED(is_finite)},
      {"le", SPRUCE_NAMED(le)},
      {"lgamma", SPRUCE_NAMED(lgamma)},
      {"log", SPRUCE_NAMED(log)},
      {"log10", SPRUCE_NAMED(log10)},
      {"log1p", SPRUCE_NAMED(log1p)},
      {"log2", SPRUCE_NAMED(log2)},
      {"logaddexp", SPRUCE_NAMED(logaddexp)},
      {"logistic", SPRUCE_NAMED(logistic)},
      {"lt", SPRUCE_NAMED(lt)},
      {"max", SPRUCE_NAMED(max)},
      {"min", SPRUCE_NAMED(min)},
      {"mul", SPRUCE_NAMED(mul)},
      {"nan_outside", nan_outside},
      {"ne", SPRUCE_NAMED(ne)},
      {"neg", SPRUCE_NAMED(neg)},
      {"nextafter", next_after},
      {"not", SPRUCE_NAMED(bit_not)},
      {"or", SPRUCE_NAMED(bit_or)},
      {"polygamma", polygamma},
      {"population_count", SPRUCE_NAMED(population_count)},
      {"pow", SPRUCE_NAMED(pow)},
      {"random_gamma_grad", SPRUCE_NAMED(gamma_grad)},
      {"relu", SPRUCE_NAMED(relu)},
      {"rem", SPRUCE_NAMED(rem)},
      {"round", SPRUCE_NAMED(rint)},
      {"rsqrt", SPRUCE_NAMED(rsqrt)},
      {"scaled_add", scaled_add},
      {"select", SPRUCE_NAMED(select)},
      {"shift_left", SPRUCE_NAMED(shift_left)},
      {"shift_right_arithmetic", SPRUCE_NAMED(shift_right_arithmetic)},
      {"shift_right_logical", SPRUCE_NAMED(shift_right_logical)},
      {"sign", SPRUCE_NAMED(sign)},
      {"silu", SPRUCE_NAMED(silu)},
      {"sin", SPRUCE_NAMED(sin)},
      {"sinh", SPRUCE_NAMED(sinh)},
      {"softplus", SPRUCE_NAMED(softplus)},
      {"sqrt", SPRUCE_NAMED(sqrt)},
      {"stop_gradient", same},
      {"sub", SPRUCE_NAMED(sub)},
      {"tan", SPRUCE_NAMED(tan)},
      {"tanh", SPRUCE_NAMED(tanh)},
      {"trunc", SPRUCE_NAMED(trunc)},
      {"xor", SPRUCE_NAMED(bit_xor)},
  };
  return all;
}

#undef SPRUCE_NAMED

}  // namespace

std::optional<std::string> operation_text(const Operation& o) {
  const auto found = table().find(o.primitive.name);
  if (found == table().end()) return std::nullopt;
  std::string text = found->second(o);
  if (is_half(o.out) && !is_bool(o.out))
    text = "sp::rounded<" + std::string(text_type(o.out)) + ">(" + text + ")";
  return text;
}

bool has_operation(const Primitive& primitive) { return table().contains(primitive.name); }

}  // namespace spruce::cuda
