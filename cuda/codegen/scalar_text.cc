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

// Where the text computes the nodes. What only choices by a condition that is hardly ever true need
// is computed in a branch in front of the first of them.
struct Places {
  static constexpr int kNowhere = -2, kAlways = -1;
  std::vector<int> where;     // of each node: one of these, or the condition
  std::vector<size_t> first;  // of each condition: the first node that chooses by it
};

size_t condition(const Node& choice) { return static_cast<size_t>(choice.in[0]); }

Places places_of(std::span<const Node> nodes, std::span<const int> results) {
  const size_t count = nodes.size();
  Places p{std::vector<int>(count, Places::kNowhere), std::vector<size_t>(count, count)};
  for (size_t n = count; n-- > 0;) {
    if (nodes[n].op == Op::kUnlikely) p.first[condition(nodes[n])] = n;
  }
  for (const int r : results) p.where[static_cast<size_t>(r)] = Places::kAlways;
  for (size_t n = count; n-- > 0;) {
    const Node& node = nodes[n];
    if (p.where[n] == Places::kNowhere) continue;
    for (size_t k = 0; k < node.in.size(); ++k) {
      if (node.in[k] < 0) continue;
      const auto in = static_cast<size_t>(node.in[k]);
      const bool rare = node.op == Op::kUnlikely && k == 1 && p.where[n] == Places::kAlways &&
                        in < p.first[condition(node)];
      const int here = rare ? node.in[0] : p.where[n];
      p.where[in] = p.where[in] == Places::kNowhere || p.where[in] == here ? here : Places::kAlways;
    }
  }
  return p;
}

}  // namespace

std::string scalar_text(const scalar::Program& program, std::span<const int> results) {
  const auto& nodes = program.nodes();
  const Places places = places_of(nodes, results);
  std::string text;
  std::vector<std::string> names(nodes.size()), branches(nodes.size());  // of each condition
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    if (node.op == Op::kUnlikely && places.first[condition(node)] == n) {
      const size_t c = condition(node);
      if (!names[c].empty())
        text += names[c] + "      if (" + value(node.in[0]) + ") {\n" + branches[c] + "      }\n";
    }
    if (places.where[n] == Places::kNowhere) continue;
    const std::string type(compute_type(node.dtype)),
        name = value(static_cast<int>(n)), made = name + " = " + node_text(program, node) + ";\n";
    if (places.where[n] == Places::kAlways) {
      text += "      const " + type + " " + made;
    } else {
      const auto c = static_cast<size_t>(places.where[n]);
      names[c] += "      " + type + " " + name + ";\n";
      branches[c] += "        " + made;
    }
  }
  return text;
}

bool needs_special(const scalar::Program& program) {
  return std::any_of(program.nodes().begin(), program.nodes().end(), [](const Node& node) {
    return node.op == Op::kCall && node.function == Function::kPolygamma;
  });
}

}  // namespace spruce::cuda
