// SPDX-License-Identifier: Apache-2.0
// Smaller programs that fail in the same way, and their text.
#include <set>

#include "spruce/core/params.h"
#include "tests/transforms/random_programs/program.h"

namespace spruce::random_programs {
namespace {

constexpr const char* kNames[] = {
    "input",       "capture",    "constant", "unary",      "binary",    "select",       "scale",
    "reduce",      "cumulative", "reshape",  "transpose",  "broadcast", "slice",        "pad",
    "concatenate", "flip",       "roll",     "dot",        "take",      "take_largest", "scatter",
    "gather",      "scatter_at", "softmax",  "sort",       "conv",      "window",       "vmap",
    "jit",         "checkpoint", "grad",     "jvp",        "scan",      "fori",         "while",
    "cond",        "switch",     "map",      "associative"};
static_assert(std::size(kNames) == static_cast<size_t>(Op::kAssociative) + 1);

void mark(const Program& p, int v, std::vector<uint8_t>& live) {
  live[static_cast<size_t>(v)] = 1;
  for (size_t i = live.size(); i-- > 0;) {
    if (live[i] == 0) continue;
    for (const int k : p.nodes[i].in) live[static_cast<size_t>(k)] = 1;
    for (const auto& body : p.nodes[i].bodies) {
      for (const Node& n : body->nodes) {
        if (n.op == Op::kCapture) live[static_cast<size_t>(n.ints[0])] = 1;
      }
    }
  }
}

// Without the nodes that no output needs; inputs of bodies stay.
Program live_part(const Program& p, bool keep_inputs) {
  std::vector<uint8_t> live(p.nodes.size(), 0);
  for (size_t i = 0; i < p.nodes.size(); ++i) {
    if (keep_inputs && p.nodes[i].op == Op::kInput) live[i] = 1;
  }
  for (const int v : p.outputs) mark(p, v, live);
  std::vector<int> number(p.nodes.size(), -1);
  Program out;
  out.dtype = p.dtype;
  out.smooth = p.smooth;
  for (size_t i = 0; i < p.nodes.size(); ++i) {
    if (live[i] == 0) continue;
    Node n = p.nodes[i];
    for (int& k : n.in) k = number[static_cast<size_t>(k)];
    for (auto& body : n.bodies) {
      Program inner = *body;
      for (Node& m : inner.nodes) {
        if (m.op == Op::kCapture) m.ints[0] = number[static_cast<size_t>(m.ints[0])];
      }
      body = std::make_shared<const Program>(std::move(inner));
    }
    number[i] = static_cast<int>(out.nodes.size());
    out.nodes.push_back(std::move(n));
  }
  for (const int v : p.outputs) out.outputs.push_back(number[static_cast<size_t>(v)]);
  return out;
}

// Node i as a new input, which what it needed may then leave.
Node as_input(const Node& n) {
  Node out;
  out.shape = n.shape;
  return out;
}
Node as_constant(const Node& n) {
  Node out = as_input(n);
  out.op = Op::kConstant;
  out.ints = {7};
  return out;
}

// All programs that are one step smaller.
std::vector<Program> smaller(const Program& p, bool is_body) {
  std::vector<Program> out;
  const auto offer = [&](const Program& q) { out.push_back(live_part(q, is_body)); };
  if (!is_body && p.outputs.size() > 1) {
    for (size_t k = 0; k < p.outputs.size(); ++k) {
      Program q = p;
      q.outputs = {p.outputs[k]};
      offer(q);
    }
  }
  if (!is_body) {
    // The result of an earlier node is what fails.
    for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
      const Op op = p.nodes[static_cast<size_t>(i)].op;
      if (op == Op::kInput || op == Op::kConstant || p.outputs == std::vector<int>{i}) continue;
      Program q = p;
      q.outputs = {i};
      offer(q);
    }
  }
  for (size_t i = p.nodes.size(); i-- > 0;) {
    const Node& n = p.nodes[i];
    if (n.op == Op::kInput) continue;
    Program q = p;
    if (n.op != Op::kConstant) {
      q.nodes[i] = is_body ? as_constant(n) : as_input(n);
      offer(q);
    }
    for (const int k : n.in) {  // leaves the operation out
      if (!(p.nodes[static_cast<size_t>(k)].shape == n.shape)) continue;
      q = p;
      for (size_t j = i; j < q.nodes.size(); ++j) {
        for (int& v : q.nodes[j].in) v = v == static_cast<int>(i) && j > i ? k : v;
      }
      for (int& v : q.outputs) v = v == static_cast<int>(i) ? k : v;
      offer(q);
    }
    for (size_t b = 0; b < n.bodies.size(); ++b) {
      for (Program& body : smaller(*n.bodies[b], true)) {
        q = p;
        q.nodes[i].bodies[b] = std::make_shared<const Program>(std::move(body));
        offer(q);
      }
    }
  }
  return out;
}

size_t weight(const Program& p) {
  size_t n = 0;
  for (const Node& node : p.nodes) {
    n += node.op == Op::kInput || node.op == Op::kConstant ? 1 : 4;
    for (const auto& body : node.bodies) n += weight(*body);
  }
  return n + p.outputs.size();
}

std::string list(const std::vector<int64_t>& v) {
  std::string s = "(";
  for (size_t i = 0; i < v.size(); ++i) s += (i > 0 ? "," : "") + std::to_string(v[i]);
  return s + ")";
}

}  // namespace

std::string Program::text(const std::string& indent) const {
  std::string s;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    const auto which = static_cast<size_t>(n.which);
    s += indent + "v" + std::to_string(i) + ": " + to_string(Aval{dtype, false, n.shape}) + " = ";
    if (n.op == Op::kUnary)
      s += unaries()[which].name;
    else if (n.op == Op::kBinary)
      s += binaries()[which].name;
    else if (n.op == Op::kReduce)
      s += reduces()[which].name;
    else
      s += kNames[static_cast<size_t>(n.op)] + (n.which > 0 ? "_" + std::to_string(n.which) : "");
    if (n.op == Op::kConv) s += "[" + Params::make(n.conv).text() + "]";
    if (n.op == Op::kWindow) s += "[" + Params::make(n.window).text() + "]";
    if (n.op == Op::kDot) s += "[" + Params::make(n.dot).text() + "]";
    if (!n.ints.empty()) s += list(n.ints);
    if (n.number != 0) s += "{" + std::to_string(n.number) + "}";
    for (const int k : n.in) s += " v" + std::to_string(k);
    s += "\n";
    for (const auto& body : n.bodies) s += body->text(indent + "    ");
  }
  s += indent + "return";
  for (const int v : outputs) s += " v" + std::to_string(v);
  return s + "\n";
}

Program shrunk(Program program, const Check& check) {
  constexpr int kMostTries = 3000;
  int tries = 0;
  for (bool found = true; found && tries < kMostTries;) {
    found = false;
    for (Program& q : smaller(program, false)) {
      if (weight(q) >= weight(program)) continue;
      if (++tries > kMostTries) break;
      if (!check(q)) continue;
      program = std::move(q);
      found = true;
      break;
    }
  }
  return program;
}

}  // namespace spruce::random_programs
