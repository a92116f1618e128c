// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scalar_text.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <initializer_list>
#include <vector>

#include "spruce/cuda/codegen/prelude.h"

namespace spruce::cuda {
namespace {

using scalar::Function;
using scalar::Node;
using scalar::Op;

std::string value(int n) { return "v" + std::to_string(n); }

std::string call(const std::string& name, const Node& node, int count) {
  std::string text = name + "(";
  for (int i = 0; i < count; ++i)
    text += (i > 0 ? ", " : "") + value(node.in[static_cast<size_t>(i)]);
  return text + ")";
}

std::string constant(Dtype d, uint64_t bits) {
  if (is_bool(d)) return bits != 0 ? "true" : "false";
  char number[32];
  std::snprintf(number, sizeof(number), "0x%llxull", static_cast<unsigned long long>(bits));
  const std::string type(text_type(d)), word = "sp::u" + std::to_string(8 * size_of(d));
  if (!is_floating(d)) return type + "(" + number + ")";
  return "sp::widen(sp::bit_cast<" + type + ">(" + word + "(" + number + ")))";
}

// The n-th derivative of cot(pi x) is (-pi)^n times a polynomial in c = cot(pi x), because
// c' = -pi (1 + c^2).
std::string polygamma(int64_t n, const std::string& x) {
  double scale = n % 2 == 0 ? -1 : 1;
  for (int64_t i = 2; i <= n; ++i) scale *= static_cast<double>(i);
  std::vector<double> cot(static_cast<size_t>(n) + 2, 0.0);
  cot[1] = 1;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> next(cot.size(), 0.0);
    for (size_t k = 1; k <= static_cast<size_t>(i) + 1; ++k) {
      next[k - 1] += static_cast<double>(k) * cot[k];
      next[k + 1] += static_cast<double>(k) * cot[k];
    }
    cot = next;
  }
  std::string list;
  for (const double c : cot) list += (list.empty() ? "" : ", ") + literal(Dtype::kFloat64, c);
  // A function without a name, so that the numbers stand in an expression.
  return "[](sp::f64 x) { const sp::f64 cot[] = {" + list + "}; return sp::polygamma<" +
         std::to_string(n) + ">(x, " + literal(Dtype::kFloat64, scale) + ", cot); }(" + x + ")";
}

std::string function_text(const scalar::Program& program, const Node& node) {
  const std::string f = node.dtype == Dtype::kFloat32 ? "f" : "";
  switch (node.function) {
    case Function::kSin:
      return call("::sin" + f, node, 1);
    case Function::kCos:
      return call("::cos" + f, node, 1);
    case Function::kTan:
      return call("::tan" + f, node, 1);
    case Function::kLgamma:
      return call("::lgamma" + f, node, 1);
    case Function::kFmod:
      return call("::fmod" + f, node, 2);
    case Function::kPow:
      return call("sp::pow", node, 2);
    case Function::kGcd:
      return call("sp::gcd", node, 2);
    case Function::kPolygamma: {
      const auto order = std::bit_cast<double>(program[node.in[1]].bits);
      return polygamma(static_cast<int64_t>(order), value(node.in[0]));
    }
    case Function::kNone:
      break;
  }
  return "";
}

std::string operator_text(const char* op, const Node& node) {
  return value(node.in[0]) + " " + op + " " + value(node.in[1]);
}

std::string node_text(const scalar::Program& program, const Node& node) {
  const std::string type(text_type(node.dtype));
  switch (node.op) {
    case Op::kConstant:
      return constant(node.dtype, node.bits);
    case Op::kInput:
      return "e" + std::to_string(node.bits);
    case Op::kAdd:
      return call("sp::add", node, 2);
    case Op::kSub:
      return call("sp::sub", node, 2);
    case Op::kMul:
      return call("sp::mul", node, 2);
    case Op::kDiv:
      return call("sp::div", node, 2);
    case Op::kRem:
      return call("sp::rem", node, 2);
    case Op::kFma:
      return call("sp::fused_multiply_add", node, 3);
    case Op::kScale:
      return call("sp::scale", node, 2);
    case Op::kNeg:
      return call("sp::neg", node, 1);
    case Op::kAbs:
      return call("sp::abs", node, 1);
    case Op::kCopysign:
      return call("sp::copysign", node, 2);
    case Op::kSqrt:
      return call("sp::sqrt", node, 1);
    case Op::kFloor:
      return call("sp::floor", node, 1);
    case Op::kCeil:
      return call("sp::ceil", node, 1);
    case Op::kRound:
      return call("sp::rint", node, 1);
    case Op::kTrunc:
      return call("sp::trunc", node, 1);
    case Op::kMin:
      return operator_text("<", node) + " ? " + value(node.in[0]) + " : " + value(node.in[1]);
    case Op::kMax:
      return operator_text(">", node) + " ? " + value(node.in[0]) + " : " + value(node.in[1]);
    case Op::kEqual:
      return operator_text("==", node);
    case Op::kNotEqual:
      return operator_text("!=", node);
    case Op::kLess:
      return operator_text("<", node);
    case Op::kLessEqual:
      return operator_text("<=", node);
    case Op::kGreater:
      return operator_text(">", node);
    case Op::kGreaterEqual:
      return operator_text(">=", node);
    case Op::kSelect:
    case Op::kUnlikely:
      return value(node.in[0]) + " ? " + value(node.in[1]) + " : " + value(node.in[2]);
    case Op::kAnd:
      return call("sp::bit_and", node, 2);
    case Op::kOr:
      return call("sp::bit_or", node, 2);
    case Op::kXor:
      return call("sp::bit_xor", node, 2);
    case Op::kNot:
      return call("sp::bit_not", node, 1);
    case Op::kShiftLeft:
      return call("sp::shift_left", node, 2);
    case Op::kShiftRight:
      return call("sp::shift_right", node, 2);
    case Op::kConvert:
      return call("sp::convert<" + type + ">", node, 1);
    case Op::kBitcast:
      return "sp::widen(sp::bit_cast<" + type + ">(sp::narrow<" +
             std::string(text_type(program.dtype(node.in[0]))) + ">(" + value(node.in[0]) + ")))";
    case Op::kCall:
      return function_text(program, node);
  }
  return "";
}

}  // namespace

std::string scalar_text(const scalar::Program& program, std::span<const int> results) {
  std::vector<bool> used(program.nodes().size(), false);
  for (const int r : results) used[static_cast<size_t>(r)] = true;
  for (size_t n = used.size(); n-- > 0;) {
    if (!used[n]) continue;
    for (const int in : program.nodes()[n].in) {
      if (in >= 0) used[static_cast<size_t>(in)] = true;
    }
  }
  std::string text;
  for (size_t n = 0; n < used.size(); ++n) {
    const Node& node = program.nodes()[n];
    if (used[n])
      text += "      const " + std::string(compute_type(node.dtype)) + " " +
              value(static_cast<int>(n)) + " = " + node_text(program, node) + ";\n";
  }
  return text;
}

bool needs_special(const scalar::Program& program) {
  return std::any_of(program.nodes().begin(), program.nodes().end(), [](const Node& node) {
    return node.op == Op::kCall && node.function == Function::kPolygamma;
  });
}

}  // namespace spruce::cuda
